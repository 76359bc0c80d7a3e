package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmMember;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Status;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.Remedy;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A cluster in memory: keys with history, leases, alarms, users and roles. Each request is one of its world's. */
final class FakeCluster implements TakeOverCalls {

    /** Makes requests: counts them, and cuts some. */
    interface World {
        <T> T request(FakeCluster cluster, String what, Supplier<T> body);
    }

    private static final int CORRUPT = 2;
    private static final int MEMBER = 7;

    final String name;
    final long id;
    private final World world;
    private final TreeMap<ByteString, KeyValue> keys = new TreeMap<>(KeyRange.KEY_ORDER);
    /** Of each key, by revision. */
    private final Map<ByteString, TreeMap<Long, Optional<ByteString>>> history = new LinkedHashMap<>();

    private final Set<Long> leases = new TreeSet<>();
    final Map<String, List<Permission>> roles = new LinkedHashMap<>();
    final Map<String, List<String>> users = new LinkedHashMap<>();
    boolean auth;
    boolean corrupt;
    /** Whether it has a NOSPACE alarm, which refuses puts and leases. */
    boolean full;
    /** Their revisions. */
    private final TreeSet<Long> clientDeletes = new TreeSet<>();
    /** Of the calls; null for one with the role root. */
    @Nullable String user;
    /** With which it refuses what that user may not do. */
    EtcdError refusal = EtcdError.PERMISSION_DENIED;
    /** With which the calls log in where authentication is enabled. */
    @Nullable Credentials login;
    /** Leases with a TTL that has passed; revoked once no alarm refuses that. */
    final Set<Long> lapsed = new TreeSet<>();

    private long revision = 1;
    /** Reads at revisions below fail. */
    private long compacted;

    private long lastLease = 100;

    FakeCluster(String name, long id, World world) {
        this.name = name;
        this.id = id;
        this.world = world;
    }

    @Override
    public String shown() {
        return name;
    }

    @Override
    public @Nullable Credentials login() {
        return login;
    }

    @Override
    public TakeOverCalls with(Duration patience) {
        return this;
    }

    long revision() {
        return revision;
    }

    /** At the present revision. */
    void compact() {
        compacted = revision;
    }

    /** What a client without special rights does; whether that is acknowledged. */
    boolean clientPuts(String key, String value) {
        ByteString bytes = ByteString.copyFromUtf8(key);
        if (corrupt || full || (auth && !mayWrite("app", bytes))) {
            return false;
        }
        put(bytes, ByteString.copyFromUtf8(value), 0);
        return true;
    }

    boolean isOpen(String key) {
        return !corrupt && (!auth || mayWrite("app", ByteString.copyFromUtf8(key)));
    }

    /** Whether it answers keep-alives of a client; under an alarm, too. */
    boolean keepsAlive(String key) {
        return !auth || mayWrite("app", ByteString.copyFromUtf8(key));
    }

    private boolean mayWrite(String client, ByteString key) {
        return may(client, Permission.Type.WRITE, KeyRange.single(key));
    }

    /** One grant covers all of the range. */
    private boolean may(String client, Permission.Type type, KeyRange range) {
        return users.getOrDefault(client, List.of()).stream()
                .flatMap(role -> roles.getOrDefault(role, List.of()).stream())
                .anyMatch(each -> (each.getPermType() == Permission.Type.READWRITE || each.getPermType() == type)
                        && KeyRange.ofEtcd(each.getKey(), each.getRangeEnd()).covers(range));
    }

    /** As etcd checks both branches before anything else. */
    private void requirePermitted(List<RequestOp> operations) {
        for (RequestOp each : operations) {
            boolean reads = each.hasRequestRange();
            KeyRange range = reads
                    ? KeyRange.ofEtcd(
                            each.getRequestRange().getKey(),
                            each.getRequestRange().getRangeEnd())
                    : each.hasRequestPut()
                            ? KeyRange.single(each.getRequestPut().getKey())
                            : KeyRange.ofEtcd(
                                    each.getRequestDeleteRange().getKey(),
                                    each.getRequestDeleteRange().getRangeEnd());
            requirePermitted(user == null || may(user, reads ? Permission.Type.READ : Permission.Type.WRITE, range));
        }
    }

    private void requirePermitted(boolean permitted) {
        if (auth && !permitted) {
            throw failed(
                    name + ": " + refusal.message(),
                    new EtcdFailure(refusal, Remedy.FATAL, Status.Code.PERMISSION_DENIED, refusal.message()));
        }
    }

    /** As of a cluster that does not respond. */
    TakeOverException away(String message) {
        return failed(message, new EtcdFailure(EtcdError.OTHER, Remedy.LATER, Status.Code.UNAVAILABLE, "cut"));
    }

    private TakeOverException failed(String message, EtcdFailure failure) {
        return new TakeOverException(message, new CallFailedException(new Endpoint(name, 1, false), failure, null));
    }

    void put(ByteString key, ByteString value, long lease) {
        revision++;
        store(key, value, lease);
    }

    void delete(ByteString key) {
        revision++;
        remove(key);
    }

    /** As etcd 3.5 lets pass while it is full, whatever closes it. */
    void clientDeletes(ByteString key) {
        delete(key);
        clientDeletes.add(revision);
    }

    boolean hasClientDeletes(long after, long until) {
        return !clientDeletes.subSet(after + 1, until + 1).isEmpty();
    }

    private void store(ByteString key, ByteString value, long lease) {
        KeyValue before = keys.get(key);
        keys.put(
                key,
                KeyValue.newBuilder()
                        .setKey(key)
                        .setValue(value)
                        .setLease(lease)
                        .setCreateRevision(before == null ? revision : before.getCreateRevision())
                        .setModRevision(revision)
                        .setVersion(before == null ? 1 : before.getVersion() + 1)
                        .build());
        history.computeIfAbsent(key, unknown -> new TreeMap<>()).put(revision, Optional.of(value));
    }

    private void remove(ByteString key) {
        if (keys.remove(key) != null) {
            history.computeIfAbsent(key, unknown -> new TreeMap<>()).put(revision, Optional.empty());
        }
    }

    Optional<ByteString> valueAt(ByteString key, long at) {
        var entry = history.getOrDefault(key, new TreeMap<>()).floorEntry(at);
        return entry == null ? Optional.empty() : entry.getValue();
    }

    /** All keys that ever were there below a prefix. */
    List<ByteString> keysBelow(String prefix) {
        return history.keySet().stream()
                .filter(key -> key.startsWith(ByteString.copyFromUtf8(prefix)))
                .toList();
    }

    /** Those of them that changed after a revision, up to another. */
    List<ByteString> changed(String prefix, long after, long until) {
        return keysBelow(prefix).stream()
                .filter(key -> !history.get(key).subMap(after + 1, until + 1).isEmpty())
                .toList();
    }

    /** The commands that held them are gone. */
    void expireLeases() {
        for (long lease : Set.copyOf(leases)) {
            revoke(lease);
        }
    }

    void grant(long lease) {
        leases.add(lease);
    }

    private void revoke(long lease) {
        leases.remove(lease);
        lapsed.remove(lease);
        revision++;
        List<ByteString> attached = keys.values().stream()
                .filter(each -> each.getLease() == lease)
                .map(KeyValue::getKey)
                .toList();
        attached.forEach(this::remove);
    }

    @Override
    public RangeResponse range(RangeRequest request) {
        return world.request(this, "range", () -> {
            requirePermitted(user == null
                    || may(user, Permission.Type.READ, KeyRange.ofEtcd(request.getKey(), request.getRangeEnd())));
            return read(request);
        });
    }

    private RangeResponse read(RangeRequest request) {
        if (request.getRevision() != 0 && request.getRevision() < compacted) {
            throw failed(
                    name + ": required revision has been compacted",
                    new EtcdFailure(
                            EtcdError.COMPACTED,
                            Remedy.FATAL,
                            Status.Code.OUT_OF_RANGE,
                            "required revision has been compacted"));
        }
        KeyRange range = KeyRange.ofEtcd(request.getKey(), request.getRangeEnd());
        List<KeyValue> found = (request.getRevision() == 0
                        ? keys.values().stream()
                        : history.keySet().stream().flatMap(key -> at(key, request.getRevision())))
                .filter(each -> range.contains(each.getKey()))
                // As etcd 3.7.
                .map(each -> request.getKeysOnly()
                        ? each.toBuilder().clearValue().clearLease().build()
                        : each)
                .toList();
        return RangeResponse.newBuilder()
                .setHeader(header())
                .addAllKvs(found)
                .setCount(found.size())
                .build();
    }

    private Stream<KeyValue> at(ByteString key, long then) {
        return valueAt(key, then).stream()
                .map(value -> KeyValue.newBuilder().setKey(key).setValue(value).build());
    }

    private ResponseHeader header() {
        return ResponseHeader.newBuilder()
                .setClusterId(id)
                .setMemberId(MEMBER)
                .setRevision(revision)
                .build();
    }

    @Override
    public TxnResponse txn(String what, TxnRequest request) {
        return world.request(this, what, () -> done(request));
    }

    private TxnResponse done(TxnRequest request) {
        requirePermitted(request.getSuccessList());
        requirePermitted(request.getFailureList());
        boolean holds = request.getCompareList().stream().allMatch(this::holds);
        List<RequestOp> operations = holds ? request.getSuccessList() : request.getFailureList();
        boolean writes = operations.stream().anyMatch(each -> !each.hasRequestRange());
        if (writes && corrupt) {
            throw new TakeOverException(name + ": etcdserver: corrupt cluster");
        }
        if (full && operations.stream().anyMatch(RequestOp::hasRequestPut)) {
            throw new TakeOverException(name + ": etcdserver: mvcc: database space exceeded");
        }
        if (writes) {
            revision++;
        }
        TxnResponse.Builder answer = TxnResponse.newBuilder().setSucceeded(holds);
        for (RequestOp operation : operations) {
            answer.addResponses(done(operation));
        }
        return answer.setHeader(header()).build();
    }

    private ResponseOp done(RequestOp operation) {
        if (operation.hasRequestRange()) {
            return ResponseOp.newBuilder()
                    .setResponseRange(read(operation.getRequestRange()))
                    .build();
        }
        if (operation.hasRequestPut()) {
            PutRequest put = operation.getRequestPut();
            if (put.getLease() != 0 && !leases.contains(put.getLease())) {
                throw new TakeOverException(name + ": etcdserver: requested lease not found");
            }
            store(put.getKey(), put.getValue(), put.getLease());
            return ResponseOp.newBuilder()
                    .setResponsePut(PutResponse.getDefaultInstance())
                    .build();
        }
        KeyRange range = KeyRange.ofEtcd(
                operation.getRequestDeleteRange().getKey(),
                operation.getRequestDeleteRange().getRangeEnd());
        List<ByteString> deleted =
                keys.keySet().stream().filter(range::contains).toList();
        deleted.forEach(this::remove);
        return ResponseOp.newBuilder()
                .setResponseDeleteRange(DeleteRangeResponse.getDefaultInstance())
                .build();
    }

    private boolean holds(Compare compare) {
        KeyValue found = keys.get(compare.getKey());
        return switch (compare.getTarget()) {
            case MOD -> (found == null ? 0 : found.getModRevision()) == compare.getModRevision();
            case VALUE -> found != null && found.getValue().equals(compare.getValue());
            default -> throw new IllegalArgumentException("compare of " + compare.getTarget());
        };
    }

    @Override
    public AlarmResponse alarm(AlarmRequest request) {
        return world.request(this, "alarm " + request.getAction(), () -> {
            if (request.getAction() != AlarmAction.GET) {
                corrupt = request.getAction() == AlarmAction.ACTIVATE;
                Set.copyOf(corrupt ? Set.<Long>of() : lapsed).forEach(this::revoke);
            }
            AlarmResponse.Builder answer = AlarmResponse.newBuilder().setHeader(header());
            if (corrupt) {
                answer.addAlarms(AlarmMember.newBuilder().setMemberID(MEMBER).setAlarmValue(CORRUPT));
            }
            if (full) {
                answer.addAlarms(AlarmMember.newBuilder().setMemberID(MEMBER).setAlarm(AlarmType.NOSPACE));
            }
            return answer.build();
        });
    }

    @Override
    public boolean isAuthEnabled() {
        return world.request(this, "auth status", () -> auth);
    }

    @Override
    public List<String> roles() {
        return world.request(this, "roles", () -> List.copyOf(roles.keySet()));
    }

    @Override
    public List<Permission> permissions(String role) {
        return world.request(this, "role", () -> List.copyOf(roles.get(role)));
    }

    @Override
    public void grant(String role, Permission permission) {
        var unused = world.request(this, "grant", () -> {
            List<Permission> after = new ArrayList<>(roles.get(role));
            // As etcd does, which looks at the first one of that key only.
            Optional<Permission> found = after.stream()
                    .filter(each -> each.getKey().equals(permission.getKey()))
                    .findFirst()
                    .filter(each -> each.getRangeEnd().equals(permission.getRangeEnd()));
            found.ifPresentOrElse(each -> after.set(after.indexOf(each), permission), () -> after.add(permission));
            after.sort(Comparator.comparing(Permission::getKey, KeyRange.KEY_ORDER));
            roles.put(role, after);
            return true;
        });
    }

    @Override
    public void revoke(String role, Permission permission) {
        var unused = world.request(this, "revoke", () -> {
            roles.put(role, without(role, permission));
            return true;
        });
    }

    private List<Permission> without(String role, Permission permission) {
        return new ArrayList<>(roles.get(role).stream()
                .filter(each -> !each.getKey().equals(permission.getKey())
                        || !each.getRangeEnd().equals(permission.getRangeEnd()))
                .toList());
    }

    @Override
    public List<String> users() {
        return world.request(this, "users", () -> {
            requirePermitted(user == null);
            return List.copyOf(users.keySet());
        });
    }

    @Override
    public List<String> rolesOf(String of) {
        return world.request(this, "user", () -> {
            requirePermitted(user == null || user.equals(of));
            return List.copyOf(users.get(of));
        });
    }

    @Override
    public void addRoot(String user, String password) {
        var unused = world.request(this, "add user", () -> {
            roles.putIfAbsent("root", List.of());
            users.put(user, List.of("root"));
            return true;
        });
    }

    @Override
    public void enableAuth() {
        var unused = world.request(this, "auth enable", () -> auth = true);
    }

    @Override
    public void disableAuth() {
        var unused = world.request(this, "auth disable", () -> auth = false);
    }

    @Override
    public long grantLease(Duration ttl) {
        return world.request(this, "lease grant", () -> {
            if (corrupt) {
                throw new TakeOverException(name + ": etcdserver: corrupt cluster");
            }
            if (full) {
                throw new TakeOverException(name + ": etcdserver: mvcc: database space exceeded");
            }
            leases.add(++lastLease);
            return lastLease;
        });
    }

    @Override
    public void revokeLease(long lease) {
        var unused = world.request(this, "lease revoke", () -> {
            revoke(lease);
            return true;
        });
    }

    @Override
    public List<Long> keepAlive(List<Long> wanted) {
        return world.request(this, "keep-alive", () -> {
            if (wanted.stream().anyMatch(lapsed::contains)) {
                // etcd waits for the revocation, which an alarm refuses.
                throw away(name + " did not answer lease keep-alives");
            }
            return wanted.stream().filter(leases::contains).toList();
        });
    }
}
