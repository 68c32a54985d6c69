//! What the daemons do, one sentence a test; the recorded cases are in tests/corpus.rs.

use super::fake::{Fake, runc};
use super::migrate::{CRI, RUNTIME};

const ALL: [&str; 7] = ["1.4.13", "1.5.18", "1.6.20", "1.7.24", "2.0.7", "2.1.9", "2.3.4"];
const V1: [&str; 4] = ["1.4.13", "1.5.18", "1.6.20", "1.7.24"];
const V2: [&str; 5] = ["2.0.7", "2.1.9", "2.2.7", "2.3.4", "2.3.5"];

#[track_caller]
fn expect(fake: &mut Fake, versions: &[&str], fact: &str, want: &str) {
    for version in versions {
        assert_eq!(fake.ask(version, fact), want, "{fact} in {version}");
    }
}

#[test]
fn nothing_written_is_cgroupfs_everywhere() {
    for mut fake in [Fake::empty(), Fake::main("").systemd(Some(true)), Fake::main("# nothing\n")] {
        expect(&mut fake, &ALL, "boots", "true");
        expect(&mut fake, &ALL, "cgroup_driver", "cgroupfs");
        expect(&mut fake, &V2, "reported_driver", "cgroupfs");
        expect(&mut fake, &V1, "reported_driver", "unimplemented");
    }
}

#[test]
fn a_version_above_the_highest_stops_the_daemon() {
    let mut v3 = Fake::main("version = 3\n");
    expect(&mut v3, &["1.4.13", "1.5.18", "1.6.20", "1.6.31", "1.7.16", "2.0.7", "2.3.4"], "boots", "true");
    expect(&mut v3, &["1.6.32", "1.7.17", "1.7.24"], "boots", "false");
    let mut v4 = Fake::main("version = 4\n");
    expect(&mut v4, &["2.0.7", "2.1.9", "2.2.7"], "boots", "false");
    expect(&mut v4, &["2.3.4", "2.3.5"], "boots", "true");
    expect(&mut v4, &["2.1.9"], "cgroup_driver", "-");
}

#[test]
fn short_ids_in_lists_of_version_2_and_3() {
    let mut v2 = Fake::main("version = 2\ndisabled_plugins = ['cri']\n");
    expect(&mut v2, &ALL, "boots", "false");
    // 1.4 looks only at version 2, and then means full ids
    let mut v3 = Fake::main("version = 3\ndisabled_plugins = ['cri']\n");
    expect(&mut v3, &["1.4.13"], "cri_enabled", "true");
    expect(&mut v3, &["1.6.20", "1.7.24", "2.1.9", "2.3.4"], "boots", "false");
    let mut required = Fake::main("required_plugins = ['cri']\n");
    expect(&mut required, &ALL, "boots", "true");
    let mut full = Fake::main("disabled_plugins = ['io.containerd.grpc.v1.cri']\n");
    expect(&mut full, &V1, "cri_enabled", "true");
    expect(&mut full, &V2, "cri_enabled", "false");
}

#[test]
fn a_text_that_is_none_has_no_version() {
    let mut garbled = Fake::main("version = 2\nx = [\n");
    expect(&mut garbled, &ALL, "config_version", "?");
    expect(&mut garbled, &ALL, "boots", "false");
    expect(&mut Fake::main("version = 9\n"), &["1.7.24", "2.1.9"], "config_version", "9");
}

#[test]
fn a_required_cri_that_dies_takes_the_daemon_along() {
    let mut fake = Fake::main(
        "version = 2\nrequired_plugins = ['io.containerd.grpc.v1.cri']\n\
         [plugins.'io.containerd.grpc.v1.cri'.containerd]\ndefault_runtime_name = 'nope'\n",
    );
    expect(&mut fake, &ALL, "boots", "false");
}

#[test]
fn a_required_part_of_cri_takes_the_daemon_along_if_it_dies_itself() {
    let dead = |part: &str| match part {
        "images" => "[plugins.'io.containerd.cri.v1.images']\nimage_pull_progress_timeout = 'z'\n",
        "runtime" => "[plugins.'io.containerd.cri.v1.runtime'.containerd]\ndefault_runtime_name = 'nope'\n",
        _ => "[plugins.'io.containerd.grpc.v1.cri']\nstream_idle_timeout = 'z'\n",
    };
    let ids = ["io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri"];
    for part in ["images", "runtime", "cri"] {
        for id in ids {
            let text = format!("version = 3\nrequired_plugins = ['{id}']\n{}", dead(part));
            let boots = !id.ends_with(part) && !id.ends_with(".cri");
            expect(&mut Fake::main(&text), &V2, "boots", &boots.to_string());
            if boots {
                expect(&mut Fake::main(&text), &V2, "cri_enabled", "false");
            }
        }
    }
}

#[test]
fn whether_a_required_part_lives_may_hang_on_a_file_that_cannot_be_read() {
    let text = |id: &str| {
        format!(
            "version = 3\nrequired_plugins = ['{id}']\n\
             [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\nbase_runtime_spec = '/spec'\n"
        )
    };
    let mut runtime = Fake::main(&text("io.containerd.cri.v1.runtime")).denied("/spec");
    expect(&mut runtime, &V2, "boots", "?");
    let mut images = Fake::main(&text("io.containerd.cri.v1.images")).denied("/spec");
    expect(&mut images, &V2, "boots", "true");
    expect(&mut images, &V2, "cri_enabled", "?");
}

#[test]
fn a_required_plugin_that_the_release_has_not_stops_the_daemon() {
    let mut full = Fake::main("required_plugins = ['io.containerd.grpc.v1.cri']\n");
    expect(&mut full, &V1, "boots", "false");
    expect(&mut full, &V2, "boots", "true");
    let mut newer = Fake::main("version = 2\nrequired_plugins = ['io.containerd.cri.v1.runtime']\n");
    expect(&mut newer, &V1, "boots", "false");
    expect(&mut newer, &V2, "boots", "true");
}

#[test]
fn an_undefined_or_empty_default_runtime_kills_cri() {
    for name in ["", "crun"] {
        let text = format!("version = 2\n[plugins.'{CRI}'.containerd]\ndefault_runtime_name = '{name}'\n");
        let mut fake = Fake::main(&text);
        expect(&mut fake, &ALL, "cri_enabled", "false");
        expect(&mut fake, &ALL, "reported_driver", "-");
        expect(&mut fake, &ALL, "default_runtime", name);
        expect(&mut fake, &ALL, "boots", "true");
    }
}

#[test]
fn options_alone_empty_the_type_in_1_x_only() {
    let text =
        format!("version = 2\n[plugins.'{CRI}'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n");
    let mut fake = Fake::main(&text);
    expect(&mut fake, &V1, "cgroup_driver", "-");
    expect(&mut fake, &V1, "cri_enabled", "true");
    expect(&mut fake, &V2, "cgroup_driver", "systemd");
    let told = fake.facts("1.6.20");
    assert_eq!(told.handler("runc", "usable"), "false");
    assert_eq!(told.handler("runc", "unusable_because"), "runtime_type is empty");
}

#[test]
fn full_ids_without_a_version_are_read_by_2_3_only() {
    let mut fake = Fake::main(&runc(CRI, true));
    expect(
        &mut fake,
        &["1.4.13", "1.6.20", "1.7.24", "2.0.7", "2.1.9", "2.2.7"],
        "cgroup_driver",
        "cgroupfs",
    );
    expect(&mut fake, &["2.3.4", "2.3.5"], "cgroup_driver", "systemd");
    let mut short = Fake::main(&runc("cri", true));
    expect(&mut short, &V1, "cgroup_driver", "systemd");
    expect(&mut short, &["2.0.7", "2.1.9", "2.2.7"], "cgroup_driver", "cgroupfs");
    expect(&mut short, &["2.3.4"], "cgroup_driver", "systemd");
}

#[test]
fn both_ids_in_one_file_the_new_one_wins() {
    for (version, old_read) in [(2, true), (3, false)] {
        let text = format!("version = {version}\n{}{}", runc(CRI, true), runc(RUNTIME, false));
        let mut fake = Fake::main(&text);
        expect(&mut fake, &V2, "cgroup_driver", "cgroupfs");
        if old_read {
            expect(&mut fake, &["1.6.20"], "cgroup_driver", "systemd");
        }
    }
    // `runtimes` is one key: handlers of the old id are lost when the new one declares any
    let other =
        format!("[plugins.'{RUNTIME}'.containerd.runtimes.crun]\nruntime_type = 'io.containerd.runc.v2'\n");
    let mut fake = Fake::main(&format!("version = 2\n{}{other}", runc(CRI, true)));
    expect(&mut fake, &V2, "cgroup_driver", "cgroupfs");
}

#[test]
fn wrong_types_of_options_fail_pods_and_fall_through_to_detection() {
    for bad in ["'true'", "1", "[true]"] {
        let text = format!(
            "version = 2\n[plugins.'{CRI}'.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n\
             [plugins.'{CRI}'.containerd.runtimes.runc.options]\nSystemdCgroup = {bad}\n"
        );
        let mut fake = Fake::main(&text).systemd(Some(true));
        expect(&mut fake, &ALL, "cgroup_driver", "-");
        expect(&mut fake, &V2, "reported_driver", "systemd");
        let mut fake = fake.systemd(None);
        expect(&mut fake, &V2, "reported_driver", "?");
        expect(&mut fake, &V1, "reported_driver", "unimplemented");
    }
}

#[test]
fn options_that_are_no_table() {
    let text = format!(
        "version = 2\n[plugins.'{CRI}'.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\noptions = true\n"
    );
    let mut fake = Fake::main(&text);
    expect(&mut fake, &["1.4.13"], "boots", "true");
    expect(&mut fake, &["1.4.13"], "cgroup_driver", "-");
    expect(&mut fake, &["1.5.18", "1.6.20", "1.7.24", "2.0.7", "2.1.9", "2.3.4"], "boots", "false");
}

#[test]
fn runtime_config_takes_the_first_readable_handler() {
    let handler = |name: &str, kind: &str, options: &str| {
        let options = match options {
            "" => String::new(),
            o => format!("[plugins.'{RUNTIME}'.containerd.runtimes.{name}.options]\n{o}\n"),
        };
        format!("[plugins.'{RUNTIME}'.containerd.runtimes.{name}]\nruntime_type = '{kind}'\n{options}")
    };
    let v2 = "io.containerd.runc.v2";
    // kata is the default; crun comes before runc
    let text = format!(
        "version = 3\n[plugins.'{RUNTIME}'.containerd]\ndefault_runtime_name = 'kata'\n{}{}{}",
        handler("kata", "io.containerd.kata.v2", ""),
        handler("crun", v2, "BinaryName = 'crun'"),
        handler("runc", v2, "SystemdCgroup = true"),
    );
    let mut fake = Fake::main(&text);
    expect(&mut fake, &V2, "reported_driver", "cgroupfs");
    expect(&mut fake, &V2, "cgroup_driver", "-");
    // no options at all: not readable, the next one decides
    let text = text
        .replace("BinaryName = 'crun'", "")
        .replace(&format!("[plugins.'{RUNTIME}'.containerd.runtimes.crun.options]\n\n"), "");
    expect(&mut Fake::main(&text), &V2, "reported_driver", "systemd");
    // nothing readable
    let text = format!("version = 3\n{}", handler("runc", "io.containerd.runc.v1", "SystemdCgroup = true"));
    expect(&mut Fake::main(&text), &V2, "reported_driver", "cgroupfs");
    expect(&mut Fake::main(&text).systemd(Some(true)), &V2, "reported_driver", "systemd");
}

#[test]
fn key_spelling_of_options() {
    let with = |key: &str| {
        let text = runc(CRI, true).replace("SystemdCgroup", key);
        Fake::main(&format!("version = 2\n{text}"))
    };
    for key in ["SystemdCgroup", "systemdCgroup", "systemdcgroup"] {
        expect(&mut with(key), &ALL, "cgroup_driver", "systemd");
    }
    expect(&mut with("SYSTEMDCGROUP"), &V1, "cgroup_driver", "systemd");
    expect(&mut with("SystemdCGroup"), &["1.4.13"], "cgroup_driver", "systemd");
    expect(&mut with("SystemdCGroup"), &["1.5.18", "1.6.20", "1.7.24", "2.1.9"], "cgroup_driver", "cgroupfs");
    expect(&mut with("systemd_cgroup"), &ALL, "cgroup_driver", "cgroupfs");
    let told = with("systemd_cgroup").facts("2.1.9");
    assert_eq!(told.cell("driver_settings", super::fake::MAIN, "effective"), "false");
    assert_eq!(
        told.cell("driver_settings", super::fake::MAIN, "because"),
        "the option is spelt SystemdCgroup"
    );
}

#[test]
fn schema_keys_are_matched_by_each_decoder_in_its_way() {
    let mut fake = Fake::main(&format!("Version = 2\n{}", runc(CRI, true)));
    expect(&mut fake, &["1.4.13", "2.1.9", "2.3.4"], "cgroup_driver", "systemd");
    expect(&mut fake, &["1.5.18", "1.6.20", "1.7.24"], "cgroup_driver", "cgroupfs");
    let mut upper = Fake::main(&format!("VERSION = 2\n{}", runc(CRI, true)));
    expect(&mut upper, &["1.6.20"], "cgroup_driver", "systemd");
}

#[test]
fn what_kills_cri() {
    let cri = |keys: &str| Fake::main(&format!("version = 2\n[plugins.'{CRI}']\n{keys}\n"));
    expect(&mut cri("systemd_cgroup = true"), &V1, "cri_enabled", "false");
    expect(&mut cri("systemd_cgroup = true"), &V2, "cri_enabled", "true");
    expect(&mut cri("stream_idle_timeout = 'forever'"), &ALL, "cri_enabled", "false");
    let both = "[plugins.'io.containerd.grpc.v1.cri'.registry]\nconfig_path = '/etc/containerd/certs.d'\n\
                [plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'docker.io']\nendpoint = ['https://m']";
    expect(&mut cri(both), &["1.4.13"], "cri_enabled", "true");
    expect(&mut cri(both), &["1.5.18", "1.6.20", "1.7.24", "2.1.9", "2.3.4"], "cri_enabled", "false");
    let mirrors = both.replace("config_path = '/etc/containerd/certs.d'", "");
    expect(&mut cri(&mirrors), &["2.2.1"], "cri_enabled", "false");
    expect(&mut cri(&mirrors), &["2.2.2", "2.1.9", "2.3.4", "1.7.24"], "cri_enabled", "true");
    let spec = "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n\
                runtime_type = 'io.containerd.runc.v2'\nbase_runtime_spec = '/etc/containerd/spec.json'";
    expect(&mut cri(spec), &ALL, "cri_enabled", "false");
    expect(&mut cri(spec).and("/etc/containerd/spec.json", "{}"), &ALL, "cri_enabled", "true");
    expect(&mut cri(spec).denied("/etc/containerd/spec.json"), &ALL, "cri_enabled", "?");
    let writable = "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n\
                    runtime_type = 'io.containerd.runc.v2'\ncgroup_writable = true";
    expect(&mut cri(writable), &ALL, "cri_enabled", "true");
    expect(&mut cri(writable).mode(Some("hybrid")), &["2.1.9", "2.2.7", "2.3.4"], "cri_enabled", "false");
    expect(&mut cri(writable).mode(Some("hybrid")), &["1.7.24", "2.0.7"], "cri_enabled", "true");
    expect(&mut cri(writable).mode(None), &["2.1.9"], "cri_enabled", "?");
}

#[test]
fn what_stops_the_daemon() {
    let boots = |text: &str, versions: &[&str], want: &str| {
        expect(&mut Fake::main(text), versions, "boots", want);
    };
    boots("[debug]\nlevel = 'loud'\n", &ALL, "false");
    boots("[debug]\nlevel = 'WARN'\nformat = 'json'\n", &ALL, "true");
    boots("[timeouts]\n'io.containerd.timeout.shim.load' = '5'\n", &ALL, "false");
    boots("version = -1\n", &V1, "true");
    boots("version = -1\n", &V2, "false");
    boots("plugins = []\n", &["1.4.13"], "true");
    boots("plugins = []\n", &["1.6.20", "1.7.24", "2.1.9", "2.3.4"], "false");
    boots("version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 'x'\n", &ALL, "false");
    boots(
        "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 1\n",
        &["1.4.13"],
        "false",
    );
    boots(
        "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 1\n",
        &["1.6.20", "2.1.9"],
        "true",
    );
    boots("version = 2\n[plugins.'com.example.a.b']\nx = 1\n", &["1.7.24"], "false");
    boots("version = 2\n[plugins.'com.example.a.b']\nx = 1\n", &["1.4.13", "1.6.20", "2.1.9"], "true");
    boots("[proxy_plugins.p]\ntype = 'sandbox'\n", &V1, "false");
    boots("[proxy_plugins.p]\ntype = 'sandbox'\n", &V2, "true");
    boots("version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nschedule_delay = 5\n", &V1, "false");
    boots("version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nschedule_delay = 5\n", &V2, "true");
    boots("a = 1\n]", &ALL, "false");
    expect(&mut Fake::empty().given(), &["1.4.13"], "boots", "true");
    expect(&mut Fake::empty().given(), &["1.5.18", "1.6.20", "1.7.24", "2.0.7", "2.3.4"], "boots", "false");
}

#[test]
fn imports_are_found_as_each_version_finds_them() {
    let dropin = format!("version = 2\n{}", runc(CRI, true));
    let with = |import: &str| {
        Fake::main(&format!("version = 2\nimports = [{import}]\n"))
            .and("/etc/containerd/conf.d/a.toml", &dropin)
    };
    // relative globs were mended in 1.6.29 and 1.7.16
    expect(&mut with("'conf.d/*.toml'"), &["1.4.13", "1.6.20", "1.7.15"], "cgroup_driver", "cgroupfs");
    expect(
        &mut with("'conf.d/*.toml'"),
        &["1.6.31", "1.7.16", "1.7.24", "2.1.9"],
        "cgroup_driver",
        "systemd",
    );
    expect(&mut with("'./conf.d/a.toml', 'conf.d/../conf.d/a.toml'"), &ALL, "cgroup_driver", "systemd");
    expect(&mut with("'/etc/containerd/none/*.toml'"), &ALL, "boots", "true");
    expect(&mut with("'~/a.toml'"), &["1.6.20", "2.1.9"], "boots", "false");
    expect(&mut with("'/etc/containerd/conf.d'"), &ALL, "boots", "false");
    // 1.4: a missing import silently ends loading, and nothing is validated
    let mut missing = with("'/nope.toml', '/etc/containerd/conf.d/a.toml'");
    expect(&mut missing, &["1.4.13"], "cgroup_driver", "cgroupfs");
    expect(&mut missing, &["1.6.20", "2.1.9"], "boots", "false");
    // a cycle
    let mut cycle = Fake::main(&format!("imports = ['/etc/containerd/b.toml']\n{dropin}"))
        .and("/etc/containerd/b.toml", "imports = ['/etc/containerd/config.toml']\n");
    expect(&mut cycle, &ALL, "cgroup_driver", "systemd");
}

#[test]
fn drop_ins_of_another_version() {
    let main2 = format!("version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n{}", runc(CRI, true));
    let dropin = "version = 3\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 0.05\n";
    let mut fake = Fake::main(&main2).and("/etc/containerd/conf.d/9.toml", dropin);
    expect(&mut fake, &["1.4.13", "1.6.20"], "cgroup_driver", "systemd");
    expect(&mut fake, &["1.7.24", "2.3.4"], "boots", "false");
    expect(&mut fake, &["2.0.7", "2.1.9", "2.2.7"], "cgroup_driver", "cgroupfs");
    expect(&mut fake, &["2.3.5"], "cgroup_driver", "systemd");
    // a v3 main file without CRI settings: the v2 drop-in is migrated
    let main3 = "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n";
    let mut fake =
        Fake::main(main3).and("/etc/containerd/conf.d/9.toml", &format!("version = 2\n{}", runc(CRI, true)));
    expect(&mut fake, &V2, "cgroup_driver", "systemd");
    // … and loses where the main file has some, but in 2.3
    let main3 = format!("{main3}{}", runc(RUNTIME, false));
    let mut fake =
        Fake::main(&main3).and("/etc/containerd/conf.d/9.toml", &format!("version = 2\n{}", runc(CRI, true)));
    expect(&mut fake, &["2.0.7", "2.1.9", "2.2.7"], "cgroup_driver", "cgroupfs");
    expect(&mut fake, &["2.3.4", "2.3.5"], "cgroup_driver", "systemd");
}

#[test]
fn an_unreadable_input_is_unknown_never_a_default() {
    let text = format!("version = 2\nimports = ['/etc/containerd/a.toml']\n{}", runc(CRI, true));
    for mut fake in [
        Fake::main(&text).and("/etc/containerd/a.toml", "").denied("/etc/containerd/a.toml"),
        Fake::main(&text).denied(super::fake::MAIN),
        Fake::main("imports = ['/etc/containerd/conf.d/*.toml']").denied("/etc/containerd/conf.d"),
    ] {
        for fact in
            ["boots", "cgroup_driver", "cri_enabled", "runtimes", "disabled_plugins", "config_version"]
        {
            expect(&mut fake, &ALL, fact, "?");
        }
    }
}

#[test]
fn declaring_another_handler_drops_the_built_in_one_in_1_5_to_1_7() {
    let text = format!(
        "version = 2\n[plugins.'{CRI}'.containerd.runtimes.crun]\nruntime_type = 'io.containerd.runc.v2'\n"
    );
    let mut fake = Fake::main(&text);
    expect(&mut fake, &["1.5.18", "1.6.20", "1.7.24"], "cri_enabled", "false");
    expect(&mut fake, &["1.4.13", "2.0.7", "2.1.9", "2.3.4"], "cri_enabled", "true");
    expect(&mut fake, &["1.4.13", "2.1.9"], "runtimes", "crun, runc");
}

#[test]
fn a_replaced_section_is_named_with_what_it_took_along() {
    let main = format!(
        "version = 2\nimports = ['/etc/containerd/gpu.toml']\n[plugins.'{CRI}']\nsandbox_image = 'p:1'\n{}",
        runc(CRI, true)
    );
    let gpu = format!(
        "version = 2\n[plugins.'{CRI}'.containerd]\ndefault_runtime_name = 'nvidia'\n\
         [plugins.'{CRI}'.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'\n"
    );
    let mut fake = Fake::main(&main).and("/etc/containerd/gpu.toml", &gpu);
    let told = fake.facts("1.6.20");
    assert_eq!(told.cell("replaced", CRI, "by"), "/etc/containerd/gpu.toml");
    assert_eq!(told.one("sandbox_image"), "registry.k8s.io/pause:3.6");
    assert_eq!(told.one("runtimes"), "nvidia");
    assert_eq!(fake.ask("2.1.9", "replaced"), "");
    assert_eq!(fake.ask("2.1.9", "sandbox_image"), "p:1");
}

#[test]
fn the_other_handlers_keep_mixed_spellings_in_2_x() {
    let text = format!(
        "version = 3\n[plugins.'{RUNTIME}'.containerd.runtimes.crun]\nruntime_type = 'io.containerd.runc.v2'\n\
         [plugins.'{RUNTIME}'.containerd.runtimes.crun.options]\nSystemdCGroup = true\n"
    );
    assert_eq!(Fake::main(&text).facts("2.1.9").handler("crun", "systemd_cgroup"), "true");
}

#[test]
fn generated_files_name_their_owner() {
    let text = "\n# File generated by k3s. DO NOT EDIT. Use config.toml.tmpl instead.\nversion = 2\n";
    let told = Fake::main(text).facts("2.1.9");
    assert_eq!(told.cell("files", super::fake::MAIN, "generated_by"), "k3s");
    let told = Fake::main("# k0s_managed=true\n").facts("1.7.24");
    assert_eq!(told.cell("files", super::fake::MAIN, "generated_by"), "k0s");
    assert_eq!(
        Fake::main("version = 2\n").facts("1.7.24").cell("files", super::fake::MAIN, "generated_by"),
        "-"
    );
}
