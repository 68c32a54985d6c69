//! systemd's word on itself and its units, over the system bus, as `Name=Value` lines in the
//! manner of `systemctl show` (times as `@SECONDS`).

mod show;

use super::live::{BUS, Found, Socket};
use crate::fact::{Known, Why};
use show::{MANAGER, Prop, Props, SERVICE, UNIT, prop, show};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use zbus::{Connection, Variant};

const SYSTEMD: &str = "org.freedesktop.systemd1";
const ROOT: &str = "/org/freedesktop/systemd1";

/// Fills in the answers. May be dropped at any await.
pub(super) async fn ask(socket: &Socket, units: &[String], found: &Found) {
    let connection = match connect(socket).await {
        Ok(connection) => connection,
        Err(why) => {
            let mut found = found.borrow_mut();
            for name in std::iter::once("manager").chain(units.iter().map(String::as_str)) {
                found.insert(format!("dbus:{name}"), Known::Unknown(why.clone()));
            }
            return;
        }
    };
    let manager = async {
        let answer = match all(&connection, ROOT, "org.freedesktop.systemd1.Manager").await {
            Ok(props) => Known::Is(show(&[(MANAGER, &props)])),
            Err(e) => Known::Unknown(why(e)),
        };
        found.borrow_mut().insert("dbus:manager".to_owned(), answer);
    };
    tokio::join!(manager, ask_units(&connection, units, found));
}

async fn connect(socket: &Socket) -> Result<Connection, Why> {
    let stream = socket.connect().await?;
    let stream = stream.into_std().map_err(|e| Why::Unreadable(BUS.to_owned(), e.to_string()))?;
    zbus::connection::Builder::unix_stream(stream).build().await.map_err(why)
}

async fn ask_units(connection: &Connection, units: &[String], found: &Found) {
    let there = loaded(connection, units).await;
    for (i, unit) in units.iter().enumerate() {
        let answer = match &there {
            Some(there) if !there[i] => Known::ABSENT,
            _ => match properties(connection, unit).await {
                Ok(answer) => answer,
                Err(e) => Known::Unknown(why(e)),
            },
        };
        found.borrow_mut().insert(format!("dbus:{unit}"), answer);
    }
}

/// Which of the units exist, in one call; `None` where systemd (before 230) has no such call.
async fn loaded(connection: &Connection, units: &[String]) -> Option<Vec<bool>> {
    use zbus::OwnedObjectPath as Path;
    type Row = (String, String, String, String, String, String, Path, u32, String, Path);
    let manager = Some("org.freedesktop.systemd1.Manager");
    let reply =
        connection.call_method(Some(SYSTEMD), ROOT, manager, "ListUnitsByNames", &(units,)).await.ok()?;
    let rows: Vec<Row> = reply.body().deserialize().ok()?;
    // in the order asked; an alias answers under another name
    (rows.len() == units.len()).then(|| rows.iter().map(|row| row.2 != "not-found").collect())
}

async fn properties(connection: &Connection, unit: &str) -> zbus::Result<Known<Arc<str>>> {
    // asking for the object of a unit loads it; one that does not exist loads as not-found
    let path = format!("{ROOT}/unit/{}", label(unit));
    let service = async {
        match unit.ends_with(".service") {
            true => all(connection, &path, "org.freedesktop.systemd1.Service").await,
            false => Ok(Props::new()),
        }
    };
    let (props, service) = tokio::join!(all(connection, &path, "org.freedesktop.systemd1.Unit"), service);
    let props = props?;
    if props.get("LoadState") == Some(&Prop::Text("not-found".to_owned())) {
        return Ok(Known::ABSENT);
    }
    Ok(Known::Is(show(&[(UNIT, &props), (SERVICE, &service?)])))
}

async fn all(connection: &Connection, path: &str, interface: &str) -> zbus::Result<Props> {
    let properties = Some("org.freedesktop.DBus.Properties");
    let reply = connection.call_method(Some(SYSTEMD), path, properties, "GetAll", &(interface,)).await?;
    let body = reply.body();
    let values: HashMap<&str, Variant<'_>> = body.deserialize()?;
    let wanted = |name: &str| [MANAGER, UNIT, SERVICE].iter().any(|t| t.iter().any(|(n, _)| *n == name));
    Ok(values
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| ((*name).to_owned(), prop(value)))
        .collect())
}

/// A unit name as one element of an object path: what is not a letter or digit as `_HEX`.
fn label(unit: &str) -> String {
    unit.bytes().enumerate().fold(String::new(), |mut label, (i, b)| {
        if b.is_ascii_alphabetic() || (i > 0 && b.is_ascii_digit()) {
            label.push(char::from(b));
        } else {
            let _ = write!(label, "_{b:02x}");
        }
        label
    })
}

fn why(error: zbus::Error) -> Why {
    use zbus::Error as E;
    use zbus::fdo::Error as F;
    match &error {
        E::FDO(fdo) => match fdo.as_ref() {
            F::AccessDenied(_) | F::AuthFailed(_) => Why::Denied(BUS.to_owned()),
            F::NoReply(_) | F::Timeout(_) | F::TimedOut(_) => Why::Timeout(BUS.to_owned()),
            F::ServiceUnknown(_) | F::NameHasNoOwner(_) | F::SpawnChildExited(_) => {
                Why::NotRunning("systemd on the system bus".to_owned())
            }
            _ => Why::Strange(error.to_string()),
        },
        E::Handshake(text) if text.contains("REJECTED") => Why::Denied(BUS.to_owned()),
        E::InputOutput(e) if e.kind() == std::io::ErrorKind::PermissionDenied => Why::Denied(BUS.to_owned()),
        _ => Why::Strange(format!("{BUS}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_paths_name_the_unit() {
        assert_eq!(label("containerd.service"), "containerd_2eservice");
        assert_eq!(label("k3s-agent.service"), "k3s_2dagent_2eservice");
    }
}
