use super::*;
use proptest::prelude::*;

#[test]
fn secrets_are_covered_and_nothing_moves() {
    for (text, masked) in [
        ("password = \"hunter2\" # why", "password = \"xxxxxxx\" # why"),
        ("auth = 'YWJj'", "auth = 'xxxx'"),
        ("{\"identity_token\": \"a\\nb\", \"x\": 1}", "{\"identity_token\": \"x\\nx\", \"x\": 1}"),
        ("endpoint = [\"https://me:pw@host/v2\"]", "endpoint = [\"https://xx:xx@host/v2\"]"),
        ("token = \"\\u00e9z\"", "token = \"\\u0000x\""),
        ("ARGS=\"--anonymous-auth=false --v=2\"", "ARGS=\"--anonymous-auth=false --v=2\""),
        ("password = true story", "password = xxxx xxxxx"),
        ("SystemdCgroup = true", "SystemdCgroup = true"),
        ("for \"--anonymous-auth\" flag: x", "for \"--anonymous-auth\" flag: x"),
        ("Environment=API_TOKEN=abc", "Environment=API_TOKEN=xxx"),
        ("authorization: Bearer abc\n", "authorization: xxxxxx xxx\n"),
        ("--bootstrap-token=ab.cd", "--bootstrap-token=xx.xx"),
    ] {
        assert_eq!(mask("/etc/containerd/config.toml", text), masked);
    }
    assert_eq!(mask("/proc/1/cmdline", "k\0--token\0abc\0--v\u{0}2\0"), "k\0--token\0xxx\0--v\u{0}2\0");
    for (text, masked) in [
        ("token = \"\"\"\na1\nb\"\"\"\nx = 1\n", "token = \"\"\"\nxx\nx\"\"\"\nx = 1\n"),
        ("Authorization = [\n \"Basic a\",\n]\nb = 1\n", "Authorization = [\n \"xxxxx x\",\n]\nb = 1\n"),
        ("Authorization = [\"a\", \"b\"]", "Authorization = [\"x\", \"x\"]"),
        ("a:\n  token: |\n    abc\n  b: c\n", "a:\n  token: |\n    xxx\n  b: c\n"),
        ("authorization:\n  mode: Webhook\n", "authorization:\n  mode: Webhook\n"),
        ("ExecStart=/k3s agent --token abc --v 2", "ExecStart=/k3s agent --token xxx --v 2"),
        ("[\"--agent-token\", \"abc\"]", "[\"--agent-token\", \"xxx\"]"),
        (
            "k = \"-----BEGIN PRIVATE KEY-----\\nab-----END\"",
            "k = \"-----BEGIN PRIVATE KEY-----\\nxx-----END\"",
        ),
        ("auth = false", "auth = false"),
    ] {
        assert_eq!(mask("/etc/x", text), masked);
    }
    let key = "-----BEGIN RSA PRIVATE KEY-----\nAbc+/=\n-----END RSA PRIVATE KEY-----\nx = 1\n";
    assert_eq!(
        mask("/k", key),
        "-----BEGIN RSA PRIVATE KEY-----\nxxx+/=\n-----END RSA PRIVATE KEY-----\nx = 1\n"
    );
}

#[test]
fn keys_in_one_line_are_covered_each() {
    let two = "-----BEGIN EC PRIVATE KEY-----\\nAb-----END EC PRIVATE KEY-----\\n".repeat(2);
    assert_eq!(mask("/k", &two), two.replace("Ab", "xx"));
    let argv = "sh\0-c\0x -----END y\n-----BEGIN PRIVATE KEY-----\nAb\n-----END PRIVATE KEY-----\0--token\0";
    assert_eq!(mask("/proc/1/cmdline", argv), argv.replace("Ab", "xx"));
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// However it is written and whatever stands around it.
    #[test]
    fn a_secret_is_never_seen(
        secret in "SEKRIT[A-Za-z0-9+]{1,12}",
        key in prop::sample::select(&["password", "identity_token", "clientSecret", "AWS_SECRET_KEY", "auth"][..]),
        form in 0..15usize,
        before in prop::collection::vec("[ a-z\\[\\].#=\"'-]{0,12}\n", 0..3),
        after in "(\n[ a-z=\"'#]{0,12}){0,2}",
        indent in "[ \t]{0,4}",
    ) {
        let forms: [String; 15] = [
            format!("{key} = \"{secret}\""),
            format!("{key}='{secret}' # why"),
            format!("\"{key}\": \"{secret}\", \"x\": 1"),
            format!("x = {{ {key} = \"{secret}\", y = 1 }}"),
            format!("{key}: {secret}"),
            format!("{key}: |\n{indent}  {secret}\n{indent}  {secret}"),
            format!("{key}: >-\n{indent}  {secret}"),
            format!("{key} = \"\"\"\n{secret}\n{secret}\"\"\""),
            format!("{key} = [\n  \"{secret}\",\n '{secret}' ]"),
            format!("ExecStart=/k3s --{key} {secret} --v 2"),
            format!("ExecStart=/k3s --{key}={secret} --v 2"),
            format!("Environment=\"{key}={secret}\""),
            format!("endpoint = [\"https://me:{secret}@host/v2\"]"),
            format!("Authorization: Basic {secret}"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{secret}\n{secret}\n-----END RSA PRIVATE KEY-----"),
        ];
        let text = format!("{}{indent}{}{after}", before.concat(), forms[form]);
        let masked = mask("/etc/x", &text);
        prop_assert!(!masked.contains("SEKRIT"), "{text}\n{masked}");
        let as_bytes = bytes(text.as_bytes());
        prop_assert!(!String::from_utf8_lossy(&as_bytes).contains("SEKRIT"), "{text}");
    }
}

#[test]
fn a_switch_is_no_secret_and_ends_with_its_argument() {
    let line = "ARGS=\"--anonymous-auth=false --authorization-mode=Webhook --token=abc,d --v=2\"\n";
    let masked = "ARGS=\"--anonymous-auth=false --authorization-mode=Webhook --token=xxx,x --v=2\"\n";
    assert_eq!(mask("/etc/default/kubelet", line), masked);
}

#[test]
fn bytes_that_are_no_text_are_covered_too() {
    assert_eq!(bytes(b"token = \"a\xff\"\nb = 1\xff\n"), b"xxxxx = \"x\xff\"\nb = 1\xff\n");
}

#[test]
fn every_name_of_a_secret_is_looked_for() {
    for key in SECRET_KEYS {
        assert!(may_hold(&format!("x-{}: y", key.to_uppercase()), &mut Vec::new()), "{key}");
    }
    assert!(!may_hold("SystemdCgroup = true\n", &mut Vec::new()));
}
