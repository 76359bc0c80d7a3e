import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Election;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.election.LeaderKey;
import io.etcd.jetcd.election.LeaderResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.CompactOption;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** Uses each part of jetcd at the endpoint given; prints one line per step. */
final class Client {

    private static String section;
    private static int number;

    private static void begin(String name) {
        section = name;
        number = 0;
    }

    private static void print(String name, Object result) {
        System.out.println(section + " " + ++number + ": " + name + " "
                + String.valueOf(result).replaceAll("\\s+", " ").strip());
    }

    private static <T> T step(String name, Future<T> call) throws Exception {
        try {
            T result = call.get(30, TimeUnit.SECONDS);
            print(name, result);
            return result;
        } catch (ExecutionException e) {
            print(name, e.getCause());
            return null;
        }
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    private static GetOption get(UnaryOperator<GetOption.Builder> options) {
        return options.apply(GetOption.builder().isPrefix(true)).build();
    }

    /** How many events are in one response depends on time. */
    private static List<String> taken(BlockingQueue<Object> responses, int count) throws Exception {
        List<String> events = new ArrayList<>();
        while (events.size() < count) {
            Object next = responses.poll(30, TimeUnit.SECONDS);
            if (!(next instanceof WatchResponse response)) {
                events.add(String.valueOf(next));
                break;
            }
            response.getEvents().forEach(each -> events.add(each.getEventType() + " " + each.getKeyValue().getKey() + "="
                    + each.getKeyValue().getValue() + " create=" + each.getKeyValue().getCreateRevision() + " mod="
                    + each.getKeyValue().getModRevision() + " version=" + each.getKeyValue().getVersion() + " lease="
                    + each.getKeyValue().getLease() + " before " + each.getPrevKV().getValue()));
        }
        return events;
    }

    private static BlockingQueue<Object> watch(Watch watch, String key, WatchOption.Builder options) throws Exception {
        BlockingQueue<Object> responses = new LinkedBlockingQueue<>();
        CompletableFuture<WatchResponse> created = new CompletableFuture<>();
        watch.watch(
                bytes(key),
                options.withCreateNotify(true).build(),
                response -> {
                    if (!created.complete(response)) {
                        responses.add(response);
                    }
                },
                failure -> {
                    created.completeExceptionally(failure);
                    responses.add(failure);
                });
        step("created", created.thenApply(WatchResponse::isCreatedNotify));
        return responses;
    }

    public static void main(String[] arguments) throws Exception {
        String endpoint = "http://" + arguments[0];
        String jar = KV.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        System.out.println("client: " + jar.replaceAll(".*/jetcd-core-(.*)\\.jar", "jetcd $1"));
        try (io.etcd.jetcd.Client client = io.etcd.jetcd.Client.builder().endpoints(endpoint).build()) {
            keyValues(client.getKVClient());
            watches(client.getKVClient(), client.getWatchClient());
            leases(client);
            election(client);
            administration(client, endpoint);
        }
        System.exit(0);
    }

    private static void keyValues(KV kv) throws Exception {
        begin("KV");
        long first = step("put", kv.put(bytes("k/1"), bytes("one"))).getHeader().getRevision();
        step("put with previous", kv.put(bytes("k/1"), bytes("again"), PutOption.builder().withPrevKV().build()));
        for (String key : List.of("k/2", "k/3", "k/4")) {
            step("put", kv.put(bytes(key), bytes("value of " + key)));
        }
        step("put without key", kv.put(bytes(""), bytes("x")));
        step("put with an unknown lease", kv.put(bytes("k/1"), bytes("x"), PutOption.builder().withLeaseId(12345).build()));
        step("get", kv.get(bytes("k/1")));
        step("get absent", kv.get(bytes("absent")));
        List<UnaryOperator<GetOption.Builder>> options = List.of(
                get -> get,
                get -> get.withSerializable(true),
                get -> get.withLimit(2),
                get -> get.withCountOnly(true),
                get -> get.withKeysOnly(true),
                get -> get.withSortField(SortTarget.MOD).withSortOrder(SortOrder.DESCEND),
                get -> get.withRevision(first + 2),
                get -> get.withRevision(first + 100000),
                get -> get.withMinModRevision(first + 2));
        for (UnaryOperator<GetOption.Builder> each : options) {
            step("prefix", kv.get(bytes("k/"), get(each)));
        }
        step("delete", kv.delete(bytes("k/1"), DeleteOption.builder().withPrevKV(true).build()));
        step("delete prefix", kv.delete(bytes("k/"), DeleteOption.builder().isPrefix(true).build()));
        step("compact", kv.compact(first + 2, CompactOption.builder().withCompactPhysical(true).build()));
        step("compact again", kv.compact(first + 2));
        step("compacted", kv.get(bytes("k/"), get(get -> get.withRevision(first))));

        begin("transactions");
        kv.put(bytes("t/1"), bytes("one")).get();
        for (String name : List.of("then", "else")) {
            step(name, kv.txn()
                    .If(new Cmp(bytes("t/1"), Cmp.Op.EQUAL, CmpTarget.value(bytes("one"))),
                            new Cmp(bytes("t/2"), Cmp.Op.EQUAL, CmpTarget.version(0)))
                    .Then(Op.put(bytes("t/2"), bytes("two"), PutOption.DEFAULT), Op.get(bytes("t/"), get(get -> get)),
                            Op.delete(bytes("t/1"), DeleteOption.DEFAULT))
                    .Else(Op.txn(new Cmp[0], new Op[] {Op.get(bytes("t/2"), GetOption.DEFAULT)}, new Op[0]))
                    .commit());
        }
        step("the same key twice", kv.txn()
                .Then(Op.put(bytes("t/3"), bytes("a"), PutOption.DEFAULT), Op.put(bytes("t/3"), bytes("b"), PutOption.DEFAULT))
                .commit());
    }

    private static void watches(KV kv, Watch watch) throws Exception {
        begin("watches");
        BlockingQueue<Object> key = watch(watch, "w/1", WatchOption.builder());
        BlockingQueue<Object> prefix = watch(watch, "w/", WatchOption.builder().isPrefix(true).withPrevKV(true));
        BlockingQueue<Object> deletes = watch(watch, "w/", WatchOption.builder().isPrefix(true).withNoPut(true));
        long start = kv.put(bytes("w/1"), bytes("one")).get().getHeader().getRevision();
        kv.put(bytes("w/1"), bytes("again")).get();
        kv.txn().Then(Op.put(bytes("w/2"), bytes("two"), PutOption.DEFAULT), Op.delete(bytes("w/1"), DeleteOption.DEFAULT))
                .commit()
                .get();
        print("key", taken(key, 3));
        print("prefix", taken(prefix, 4));
        print("deletes", taken(deletes, 1));
        print("past", taken(watch(watch, "w/", WatchOption.builder().isPrefix(true).withRevision(start)), 4));
        print("compacted", taken(watch(watch, "w/", WatchOption.builder().withRevision(1)), 1));
    }

    private static void leases(io.etcd.jetcd.Client client) throws Exception {
        begin("leases");
        Lease leases = client.getLeaseClient();
        KV kv = client.getKVClient();
        long lease = step("grant", leases.grant(600)).getID();
        step("put", kv.put(bytes("l/1"), bytes("one"), PutOption.builder().withLeaseId(lease).build()));
        step("get", kv.get(bytes("l/1")));
        step("keep alive", leases.keepAliveOnce(lease));
        step("time to live", leases.timeToLive(lease, LeaseOption.builder().withAttachedKeys().build())
                .thenApply(response -> response.getGrantedTTL() + " " + response.getKeys()));
        BlockingQueue<Object> revoked = watch(client.getWatchClient(), "l/1", WatchOption.builder());
        step("revoke", leases.revoke(lease));
        print("watch", taken(revoked, 1));
        step("revoke again", leases.revoke(lease));
        step("time to live", leases.timeToLive(lease, LeaseOption.DEFAULT));

        begin("locks");
        long one = leases.grant(600).get().getID();
        long two = leases.grant(600).get().getID();
        ByteSequence lock = step("lock", client.getLockClient().lock(bytes("lock"), one)).getKey();
        Future<io.etcd.jetcd.lock.LockResponse> waiting = client.getLockClient().lock(bytes("lock"), two);
        while (kv.get(bytes("lock/"), get(get -> get.withCountOnly(true))).get().getCount() < 2) {
            Thread.onSpinWait();
        }
        step("unlock", client.getLockClient().unlock(lock));
        step("unlock", client.getLockClient().unlock(waiting.get().getKey()));
    }

    private static void election(io.etcd.jetcd.Client client) throws Exception {
        begin("election");
        Election election = client.getElectionClient();
        long lease = client.getLeaseClient().grant(600).get().getID();
        step("no leader", election.leader(bytes("election")));
        LeaderKey leader = step("campaign", election.campaign(bytes("election"), lease, bytes("first"))).getLeader();
        BlockingQueue<String> observed = new LinkedBlockingQueue<>();
        election.observe(bytes("election"), new Election.Listener() {
            @Override
            public void onNext(LeaderResponse response) {
                observed.add(response.getKv().getKey() + " " + response.getKv().getValue());
            }

            @Override
            public void onError(Throwable failure) {
                observed.add(failure.toString());
            }

            @Override
            public void onCompleted() {}
        });
        print("observed", observed.poll(30, TimeUnit.SECONDS));
        step("proclaim", election.proclaim(leader, bytes("second")));
        print("observed", observed.poll(30, TimeUnit.SECONDS));
        step("leader", election.leader(bytes("election")));
        step("resign", election.resign(leader));
        step("proclaim", election.proclaim(leader, bytes("third")));
    }

    private static void administration(io.etcd.jetcd.Client client, String endpoint) throws Exception {
        begin("cluster");
        step("members", client.getClusterClient().listMember().thenApply(response -> response.getMembers().stream()
                .map(each -> each.getId() + " " + each.getPeerURIs().size() + " " + each.getClientURIs().size())
                .toList()));
        step("removal of an unknown member", client.getClusterClient().removeMember(12345));
        step("update of an unknown member", client.getClusterClient().updateMember(12345, List.of(URI.create("http://127.0.0.1:1"))));

        begin("maintenance");
        step("status", client.getMaintenanceClient().statusMember(endpoint)
                .thenApply(response -> response.getVersion().replace("+understudy", "")));
        step("alarms", client.getMaintenanceClient().listAlarms());
        step("move leader", client.getMaintenanceClient().moveLeader(12345));
        step("snapshot", client.getMaintenanceClient().snapshot(OutputStream.nullOutputStream()).thenApply(size -> size > 10000));

        begin("users and roles");
        ByteSequence reader = bytes("reader");
        ByteSequence user = bytes("user");
        step("role", client.getAuthClient().roleAdd(reader));
        step("role again", client.getAuthClient().roleAdd(reader));
        step("grant", client.getAuthClient().roleGrantPermission(reader, bytes("k/"), bytes("k0"), Permission.Type.READ));
        step("get", client.getAuthClient().roleGet(reader));
        step("user", client.getAuthClient().userAdd(user, bytes("password")));
        step("grant", client.getAuthClient().userGrantRole(user, reader));
        step("get", client.getAuthClient().userGet(user));
        step("enable without root", client.getAuthClient().authEnable());
        step("delete user", client.getAuthClient().userDelete(user));
        step("delete role", client.getAuthClient().roleDelete(reader));
    }
}
