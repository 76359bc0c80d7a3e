//! Uses each part of etcd-client at the endpoint given; prints one line per step.

use etcd_client::*;
use std::fmt::Debug;
use std::sync::Mutex;

static PLACE: Mutex<(&str, usize)> = Mutex::new(("", 0));

fn begin(section: &'static str) {
    *PLACE.lock().unwrap() = (section, 0);
}

fn say(text: String) {
    let mut place = PLACE.lock().unwrap();
    place.1 += 1;
    println!("{} {}: {}", place.0, place.1, text);
}

fn show<T: Debug>(name: &str, result: Result<T, Error>) {
    match result {
        Ok(value) => say(format!("{name} {value:?}")),
        // Its metadata has a date.
        Err(Error::GRpcStatus(status)) => say(format!("{name} error {:?} {}", status.code(), status.message())),
        Err(e) => say(format!("{name} error {e:?}")),
    }
}

fn pair(kv: &KeyValue) -> String {
    format!(
        "{}={} create={} mod={} version={} lease={}",
        kv.key_str().unwrap(),
        kv.value_str().unwrap(),
        kv.create_revision(),
        kv.mod_revision(),
        kv.version(),
        kv.lease()
    )
}

/// How many events are in one response depends on time.
async fn events(name: &str, stream: &mut WatchStream, count: usize) -> Result<(), Error> {
    let mut seen = vec![];
    while seen.len() < count {
        let response = stream.message().await?.expect("the stream has ended");
        for event in response.events() {
            seen.push(format!(
                "{} {:?} {} before {:?}",
                response.watch_id(),
                event.event_type(),
                event.kv().map(pair).unwrap_or_default(),
                event.prev_kv().map(pair)
            ));
        }
    }
    say(format!("{name} {}", seen.join("; ")));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("client: Rust etcd-client {}", env!("CLIENT_VERSION"));
    let mut c = Client::connect([std::env::args().nth(1).unwrap()], None).await?;

    begin("KV");
    let first = c.put("k/1", "one", None).await?.header().unwrap().revision();
    say(format!("put rev={first}"));
    show("put with previous", c.put("k/1", "again", Some(PutOptions::new().with_prev_key())).await);
    for key in ["k/2", "k/3", "k/4"] {
        show("put", c.put(key, format!("value of {key}"), None).await);
    }
    show("put without key", c.put("", "x", None).await);
    show("put with an unknown lease", c.put("k/1", "x", Some(PutOptions::new().with_lease(12345))).await);
    show("ignore value", c.put("k/1", "", Some(PutOptions::new().with_ignore_value())).await);
    let prefix = || GetOptions::new().with_prefix();
    for (name, options) in [
        ("prefix", prefix()),
        ("serializable", prefix().with_serializable()),
        ("limit", prefix().with_limit(2)),
        ("count", prefix().with_count_only()),
        ("keys", prefix().with_keys_only()),
        ("range", GetOptions::new().with_range("k/3")),
        ("from key", GetOptions::new().with_from_key()),
        ("all", GetOptions::new().with_all_keys()),
        ("at revision", prefix().with_revision(first + 2)),
        ("future", prefix().with_revision(first + 100000)),
        ("descending", prefix().with_sort(SortTarget::Mod, SortOrder::Descend)),
        ("by value", prefix().with_sort(SortTarget::Value, SortOrder::Ascend)),
        ("filtered", prefix().with_min_mod_revision(first + 2).with_max_create_revision(first + 3)),
    ] {
        show(name, c.get("k/", Some(options)).await);
    }
    show("get", c.get("k/1", None).await);
    show("get absent", c.get("absent", None).await);
    show("delete", c.delete("k/1", Some(DeleteOptions::new().with_prev_key())).await);
    show("delete prefix", c.delete("k/", Some(DeleteOptions::new().with_prefix())).await);
    show("compact", c.compact(first + 2, Some(CompactionOptions::new().with_physical())).await);
    show("compact again", c.compact(first + 2, None).await);
    show("compact future", c.compact(first + 100000, None).await);
    show("compacted", c.get("k/", Some(prefix().with_revision(first))).await);

    begin("transactions");
    c.put("t/1", "one", None).await?;
    let then = Txn::new()
        .when([Compare::value("t/1", CompareOp::Equal, "one"), Compare::version("t/2", CompareOp::Equal, 0)])
        .and_then([TxnOp::put("t/2", "two", None), TxnOp::get("t/", Some(prefix())), TxnOp::delete("t/1", None)])
        .or_else([TxnOp::get("t/1", None)]);
    show("then", c.txn(then.clone()).await);
    show("else", c.txn(then).await);
    let nested = Txn::new().and_then([TxnOp::get("t/2", None)]);
    show("nested, reads only", c.txn(Txn::new().and_then([TxnOp::txn(nested)])).await);
    show("the same key twice", c.txn(Txn::new().and_then([TxnOp::put("t/3", "a", None), TxnOp::put("t/3", "b", None)])).await);

    begin("watches");
    let mut w = c.watch("w/", Some(WatchOptions::new().with_prefix().with_prev_key().with_watch_id(7))).await?;
    show("created", w.message().await);
    let start = c.put("w/1", "one", None).await?.header().unwrap().revision();
    c.put("w/1", "again", None).await?;
    c.txn(Txn::new().and_then([TxnOp::put("w/2", "two", None), TxnOp::delete("w/1", None)])).await?;
    events("prefix", &mut w, 4).await?;
    w.watch("w/1", Some(WatchOptions::new().with_watch_id(8).with_filters([WatchFilterType::NoPut]))).await?;
    show("created", w.message().await);
    w.cancel(7).await?;
    show("cancelled", w.message().await);
    c.put("w/1", "third", None).await?;
    c.delete("w/1", None).await?;
    events("deletes", &mut w, 1).await?;
    w.request_progress().await?;
    show("progress", w.message().await);
    let mut past = c.watch("w/", Some(WatchOptions::new().with_prefix().with_start_revision(start))).await?;
    show("created", past.message().await.map(|r| r.map(|r| r.created())));
    events("past", &mut past, 6).await?;
    let mut old = c.watch("w/", Some(WatchOptions::new().with_start_revision(1))).await?;
    show("created", old.message().await.map(|r| r.map(|r| r.created())));
    show("compacted", old.message().await);

    begin("leases");
    let lease = c.lease_grant(600, Some(LeaseGrantOptions::new().with_id(77))).await?;
    say(format!("grant {} {} {}", lease.id(), lease.ttl(), lease.error()));
    show("grant again", c.lease_grant(600, Some(LeaseGrantOptions::new().with_id(77))).await);
    c.put("l/1", "one", Some(PutOptions::new().with_lease(77))).await?;
    show("get", c.get("l/1", None).await);
    let (mut keeper, mut kept) = c.lease_keep_alive(77).await?;
    keeper.keep_alive().await?;
    show("keep alive", kept.message().await);
    let left = c.lease_time_to_live(77, Some(LeaseTimeToLiveOptions::new().with_keys())).await?;
    say(format!("time to live {} {} {:?}", left.granted_ttl(), left.ttl() > 0, left.keys()));
    show("listed", c.leases().await.map(|r| r.leases().iter().any(|each| each.id() == 77)));
    show("revoke", c.lease_revoke(77).await);
    show("revoke again", c.lease_revoke(77).await);
    show("keep alive", c.lease_keep_alive(77).await.map(|_| ()));
    show("time to live", c.lease_time_to_live(77, None).await);

    begin("locks");
    let lease = c.lease_grant(600, None).await?.id();
    let lock = c.lock("lock", Some(LockOptions::new().with_lease(lease))).await?;
    say(format!("lock {} rev={}", String::from_utf8_lossy(lock.key()), lock.header().unwrap().revision()));
    let mut other = c.clone();
    let waiting = tokio::spawn(async move { other.lock("lock", None).await });
    while c.get("lock/", Some(prefix().with_count_only())).await?.count() < 2 {}
    show("unlock", c.unlock(lock.key()).await);
    let lock = waiting.await.unwrap()?;
    say(format!("lock of the other {}", String::from_utf8_lossy(lock.key())));
    show("unlock", c.unlock(lock.key()).await);

    begin("election");
    show("no leader", c.leader("election").await.map(|r| r.kv().is_some()));
    let campaign = c.campaign("election", "first", lease).await?;
    let leader = campaign.leader().unwrap();
    say(format!("campaign {} {} rev={} lease={}", leader.name_str()?, leader.key_str()?, leader.rev(), leader.lease()));
    // It waits for the first response.
    let mut observed = c.observe("election").await?;
    say(format!("observed {}", pair(observed.message().await?.unwrap().kv().unwrap())));
    show("proclaim", c.proclaim("second", Some(ProclaimOptions::new().with_leader(leader.clone()))).await);
    say(format!("observed {}", pair(observed.message().await?.unwrap().kv().unwrap())));
    say(format!("leader {}", pair(c.leader("election").await?.kv().unwrap())));
    show("resign", c.resign(Some(ResignOptions::new().with_leader(leader.clone()))).await);
    show("proclaim", c.proclaim("third", Some(ProclaimOptions::new().with_leader(leader.clone()))).await);

    begin("cluster");
    for each in c.member_list().await?.members() {
        say(format!("member {} {} {}", each.id(), each.peer_urls().len(), each.client_urls().len()));
    }
    show("removal of an unknown member", c.member_remove(12345).await);
    show("promotion of an unknown member", c.member_promote(12345).await);

    begin("maintenance");
    let status = c.status().await?;
    say(format!("version {}", status.version().replace("+understudy", "")));
    show("alarms", c.alarm(AlarmAction::Get, AlarmType::None, None).await);
    show("move leader", c.move_leader(12345).await);
    let (mut snapshot, mut size) = (c.snapshot().await?, 0);
    while let Some(part) = snapshot.message().await? {
        size += part.blob().len();
    }
    say(format!("snapshot {}", size > 10000));

    begin("users and roles");
    show("role", c.role_add("reader").await);
    show("role again", c.role_add("reader").await);
    show("grant", c.role_grant_permission("reader", Permission::read("k/").with_prefix()).await);
    show("get", c.role_get("reader").await.map(|r| r.permissions()));
    show("user", c.user_add("user", "password", None).await);
    show("grant", c.user_grant_role("user", "reader").await);
    show("get", c.user_get("user").await);
    show("enable without root", c.auth_enable().await);
    show("delete user", c.user_delete("user").await);
    show("delete role", c.role_delete("reader").await);
    Ok(())
}
