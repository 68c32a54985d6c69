use super::TARGETS;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::ops::Range;

/// Texts as they should be, by target: what is tried is made of their pieces.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let texts: &[&str] = match target {
        "boot" => &[
            "/swap.img none swap sw,noauto 0 0\nUUID=1-2 none swap sw\nLABEL=\"a b\" none swap\n# x\n",
            "-net/ipv4/ip_forward = 1\nkernel.panic=10\n; x\n[zram0]\nzram-size = ram / 2\nmount-point=/a\n",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: &a etcd\n  namespace: 'kube-system'\n",
        ],
        "config" => {
            &["select = ['NV1']\nfail_on = 'warning'\n[[ignore]]\nrule = 'NV101'\nuntil = 2027-01-01\n"]
        }
        "containerd" | "toml" | "edit" => &[
            "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\ndisabled_plugins = [\"cri\", 'x']\n\
             [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options] # why\n  SystemdCgroup = true\n",
            "version = 3\r\nplugins.\"io.containerd.cri.v1.runtime\" = { containerd = { a = [1, 2.5e1, 0x1f] } }\r\n",
            "[plugins.cri]\nx = \"\"\"\n\\u00e9\\\n\"\"\"\n[[a]]\nb = 1979-05-27T07:32:00Z\n[[a]]\n[a.c]\n",
            "required_plugins = []\n[proxy_plugins.x]\ntype = 'snapshot'\n[timeouts]\n't' = '1h'\n[debug]\nlevel = 'info'\n",
        ],
        "cri" => &[
            r#"{"version": "0.1.0", "runtimeName": "containerd", "runtimeVersion": "1.7.24~ds1"}"#,
            r#"{"config": {"sandboxImage": "p", "containerd": {"defaultRuntimeName": "runc",
                "runtimes": {"runc": {"options": {"SystemdCgroup": true}}}}}, "error": "unimplemented"}"#,
            "\0\0\0\0\u{6}\n\u{4}\u{8}\u{1}\u{12}\0%zz%41",
            "\n\u{5}0.1.0\u{12}\ncontainerd\u{1a}\u{5}2.1.9\"\u{2}v1",
            "\0\0\0\0\u{1c}\u{12}\u{1a}\n\u{6}config\u{12}\u{10}{\"registry\":null}",
        ],
        "crio" => &[
            "[crio.runtime]\ncgroup_manager = \"cgroupfs\"\nconmon_cgroup = \"pod\"\ndefault_runtime = 'crun'\n",
            "\u{feff}[crio.runtime.runtimes.runc]\nruntime_path = \"/a/b\"\nmonitor_cgroup = ''\nSystemdCgroup = true\n",
            "Crio.Runtime.Cgroup_Manager = \"systemd\"\n[crio.runtime.runtimes]\nx = { runtime_type = \"vm\" }\n",
        ],
        "docker" => &[
            "{\"exec-opts\": [\"native.cgroupdriver=systemd\", null], \"log-opts\": {\"a\": \"\\u00e9\\ud83d\\ude00\"}}\n",
            "\u{feff}{\"daemon\": {\"exec-opts\": [\"Native.CgroupDriver = cgroupfs\"]}, \"cgroup-parent\": \"a.slice\"}",
            "\u{fffd}\u{fffd}{\0\"\0d\0e\0b\0u\0g\0\"\0:\0t\0r\0u\0e\0}\0",
            "{\"runtimes\": {\"x\": {\"path\": \"y\"}}, \"default-runtime\": \"x\", \"mtu\": -1.5e3, \"hosts\": []}",
        ],
        "expr" => &[
            "has(host.init) && containerd.version >= version(\"2.1\") || !(\"a\" in cgroup.top)",
            "host.init == 'systemd' ? size(containerd.runtimes) != 0x0 : r'\\d'.matches(\"x\\n\")",
        ],
        "mask" => &[
            "password = \"hunter2\" # why\nAuthorization = [\n \"Basic a\",\n]\nurl = 'https://me:pw@host/v2'\n",
            "a:\n  token: |\n    abc\n  b: c\n--token abc\n-----BEGIN PRIVATE KEY-----\nab\n-----END PRIVATE KEY-----\n",
            "k\0--token\0abc\0--v\u{0}2\0x = \"\\u00e9\\n\"\ntoken = '''\na'''\n",
        ],
        "meta" => &[
            "{\"path\":\"/etc/x\",\"error\":{\"denied\":\"/etc/x\"}}\n{\"reply\":\"cri:Version\",\"absent\":true}\n",
            "{\"path\":\"/x\",\"entries\":[{\"name\":\"a\",\"kind\":\"file\"}],\"magic\":1667723888}\ndbus:../../a/b\n",
        ],
        "mountinfo" => &[
            "24 20 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n30 24 0:25 / /sys/fs/cgroup rw - cgroup2 c rw\n",
            "31 24 0:26 / /sys/fs/cgroup/systemd rw - cgroup cg rw,xattr,name=systemd\n\
             32 31 0:27 / /sys/fs/cgroup rw master:1 - cgroup cg rw,cpu,cpuacct\n1 1 0:1 / / rw - a b c\n",
        ],
        "rule" => &[include_str!("../../rules/NV101-cgroup-driver-mismatch.toml")],
        "suppress" => &[
            "x = 1 # nodevet: ignore NV101,NV102 it's known\n\t#nodevet: ignroe 'x'\n # nodevet: ignore\ny\n",
        ],
        "unit" => &[
            "ExecStart=-@/usr/bin/kubelet kubelet --a=\"$B\" ${C} '\\x41' \\\n# note\n; /bin/x %i %%\n",
            "Environment=A=1 \"B=2 3\" 'C=\\u00e9'\nEnvironmentFile=-/etc/*.env\nExecStart=\nDelegate=yes\n[Install]\n",
        ],
        "version" => &["1:2.3.4~rc1-6+deb13u1\nv1.34.2+k3s1", "2.1\n2.1.0", "1.7.24~ds1\n1.7.24-alpha.10"],
        "yaml" => &[
            "---\na: &x [1, 'b', \"c\\n\"]\nd: {e: *x, <<: *x}\nf: |-\n  g\n\n  h # no\n? i\n: !!str j\n...\n",
        ],
        "buildinfo" => return vec![program(true), program(false)],
        other => panic!("{other} has no seed"),
    };
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A Go program, as small as one can be.
fn program(wide: bool) -> Vec<u8> {
    let mut file = vec![0; 0x80];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x7fELF");
    put(4, &[if wide { 2 } else { 1 }, 1, 1]);
    if wide {
        put(32, &[64]);
        put(54, &[56]);
        put(56, &[1]);
        put(64, &[1, 0, 0, 0, 6]);
        put(72, &[0x80]);
        put(96, &[0xff]);
    } else {
        put(28, &[64]);
        put(42, &[32]);
        put(44, &[1]);
        put(64, &[1, 0, 0, 0, 0x80]);
        put(80, &[0xff]);
        put(88, &[6]);
    }
    file.extend(b"\xff Go buildinf:\x08\x02");
    file.extend([0; 16]);
    file.extend(b"\x08go1.24.4\x27");
    file.extend(b"0123456789abcdefpath\tx\n0123456789abcdef");
    file
}

/// What is done to a text, one after the other.
#[derive(Clone, Debug)]
enum Change {
    /// Replaces a part, both in thousandths, by a part of a seed.
    Splice(usize, usize, usize, Range<usize>),
    Byte(usize, u8),
    Text(usize, String),
    Twice(usize, usize),
}

impl Change {
    fn apply(&self, text: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = |n: usize, of: usize| n * of / 1000;
        let part = |a: usize, b: usize, of: usize| at(a.min(b), of)..at(a.max(b), of);
        match self {
            Change::Splice(a, b, seed, from) => {
                let seed = &seeds[seed % seeds.len()];
                let new = seed[part(from.start, from.end, seed.len())].to_vec();
                text.splice(part(*a, *b, text.len()), new);
            }
            Change::Byte(_, byte) if text.is_empty() => text.push(*byte),
            Change::Byte(place, byte) => {
                let place = at(*place, text.len() - 1);
                text[place] = *byte;
            }
            Change::Text(place, new) => {
                let place = at(*place, text.len());
                text.splice(place..place, new.bytes());
            }
            Change::Twice(a, b) => {
                let part = part(*a, *b, text.len());
                let (end, again) = (part.end, text[part].to_vec());
                text.splice(end..end, again);
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let n = || 0..1000usize;
    let sharp = prop::sample::select(&b"\"'\\\n\r\0=:[]{}#%$@- \xff\x80,.;|&*!"[..]);
    prop_oneof![
        (n(), n(), n(), n(), n()).prop_map(|(a, b, seed, c, d)| Change::Splice(a, b, seed, c..d)),
        (n(), sharp).prop_map(|(place, byte)| Change::Byte(place, byte)),
        (n(), any::<u8>()).prop_map(|(place, byte)| Change::Byte(place, byte)),
        (n(), "\\PC{0,4}").prop_map(|(place, text)| Change::Text(place, text)),
        (n(), n()).prop_map(|(a, b)| Change::Twice(a, b)),
    ]
}

fn survives(name: &str) {
    let (_, target) = TARGETS.iter().find(|(n, _)| *n == name).unwrap();
    let seeds = seeds(name);
    seeds.iter().for_each(|seed| target(seed));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let cases = (0..1000usize, prop::collection::vec(change(), 0..12));
    let outcome = runner.run(&cases, |(first, changes)| {
        let mut text = seeds[first % seeds.len()].clone();
        changes.iter().for_each(|change| change.apply(&mut text, &seeds));
        text.truncate(1 << 14);
        target(&text);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            survives(stringify!($name));
        })*

        #[test]
        fn every_target_is_tried() {
            let tried = [$(stringify!($name)),*];
            let all: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(all, tried);
        }
    };
}

targets! {
    boot buildinfo config containerd cri crio docker edit expr mask meta mountinfo rule suppress toml unit version yaml
}

#[test]
fn the_smallest_program_is_one() {
    for wide in [true, false] {
        assert!(crate::node::buildinfo::read(&&program(wide)[..]).is_some_and(|t| t.contains("path\tx")));
    }
}
