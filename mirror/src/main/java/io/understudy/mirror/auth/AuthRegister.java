package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.auth.AuthTarget.OvertakenException;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Register of the roles and users that a mirror copied to the target. Each has one key, put before it is added; a
 * user's also holds the digest of the password hash. Written only until another writer takes the mirror over.
 */
final class AuthRegister {

    private static final String ROLES = "auth/role/";
    private static final String USERS = "auth/user/";
    private static final String SEEN = "auth/seen";
    /** Terminates a name, so that no key collides with another of the mirror. */
    private static final String END = "/";

    /** The target holds no freeze: permissions that a freeze withdrew must not be granted. No key has version 0. */
    private static final Compare NOTHING_WITHDRAWN = Compare.newBuilder()
            .setKey(ReservedKeys.FREEZES.etcdKey())
            .setRangeEnd(ReservedKeys.FREEZES.etcdRangeEnd())
            .setTarget(Compare.CompareTarget.VERSION)
            .setResult(Compare.CompareResult.EQUAL)
            .setVersion(0)
            .build();

    private final String mirror;
    private final ClusterCalls calls;

    /** The caller closes {@code target}. */
    AuthRegister(String mirror, EtcdCluster target) {
        this.mirror = mirror;
        this.calls = new ClusterCalls(target, Duty.WRITE, target.settings().requestTimeout());
    }

    /** Returns the prefix of the register's keys, for messages. */
    String shownKeys() {
        return "\"" + TextFormat.escapeBytes(ReservedKeys.of(mirror, "auth/")) + "\"";
    }

    Brought read() throws CallFailedException, InterruptedException {
        return new Brought(all(ROLES).keySet(), all(USERS));
    }

    /** Returns false if the role was registered. */
    boolean addRole(String role, Compare epoch) throws CallFailedException, InterruptedException, OvertakenException {
        return put(ROLES + role + END, "", epoch);
    }

    void removeRole(String role, Compare epoch) throws CallFailedException, InterruptedException, OvertakenException {
        remove(ROLES + role + END, epoch);
    }

    /** Returns false if the user was registered. */
    boolean putUser(String user, String digest, Compare epoch)
            throws CallFailedException, InterruptedException, OvertakenException {
        return put(USERS + user + END, digest, epoch);
    }

    void removeUser(String user, Compare epoch) throws CallFailedException, InterruptedException, OvertakenException {
        remove(USERS + user + END, epoch);
    }

    /** The last revision of the source's users and roles that was copied; 0 for none. */
    long seen() throws CallFailedException, InterruptedException {
        RangeRequest request =
                RangeRequest.newBuilder().setKey(ReservedKeys.of(mirror, SEEN)).build();
        List<KeyValue> found = calls.kv(stub -> stub.range(request)).getKvsList();
        return found.isEmpty() ? 0 : revision(found.get(0).getValue().toStringUtf8());
    }

    private long revision(String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("value of " + shownSeen() + " in the target is not a revision");
        }
    }

    void putSeen(long revision, Compare epoch) throws CallFailedException, InterruptedException, OvertakenException {
        boolean unused = put(SEEN, Long.toString(revision), epoch);
    }

    String shownSeen() {
        return "\"" + TextFormat.escapeBytes(ReservedKeys.of(mirror, SEEN)) + "\"";
    }

    /**
     * Verifies that this process may write. Calls on users and roles can't be part of a transaction, so the state may
     * change before they arrive. Another process may then find the last change of this one made a moment late.
     */
    void require(Compare epoch) throws CallFailedException, InterruptedException, OvertakenException {
        var unused = write(TxnRequest.newBuilder(), epoch);
    }

    private Map<String, String> all(String what) throws CallFailedException, InterruptedException {
        KeyRange range = ReservedKeys.all(mirror, what);
        int prefix = range.from().size();
        Map<String, String> found = new HashMap<>();
        calls.forEach(range, false, each -> {
            String name = each.getKey().substring(prefix).toStringUtf8();
            found.put(
                    name.substring(0, name.length() - END.length()),
                    each.getValue().toStringUtf8());
        });
        return found;
    }

    private boolean put(String what, String value, Compare epoch)
            throws CallFailedException, InterruptedException, OvertakenException {
        List<RequestOp> operations = List.of(RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ReservedKeys.of(mirror, what))
                        .setValue(ByteString.copyFromUtf8(value))
                        .setPrevKv(true))
                .build());
        return !write(TxnRequest.newBuilder().addAllSuccess(operations), epoch)
                .get(0)
                .getResponsePut()
                .hasPrevKv();
    }

    private void remove(String what, Compare epoch)
            throws CallFailedException, InterruptedException, OvertakenException {
        var unused =
                write(TxnRequest.newBuilder().addSuccess(EtcdMessages.delete(ReservedKeys.of(mirror, what))), epoch);
    }

    private List<ResponseOp> write(TxnRequest.Builder operations, Compare epoch)
            throws CallFailedException, InterruptedException, OvertakenException {
        TxnRequest request =
                operations.addCompare(epoch).addCompare(NOTHING_WITHDRAWN).build();
        var answer = calls.kv(stub -> stub.txn(request));
        if (!answer.getSucceeded()) {
            throw new OvertakenException(
                    "another process took over the mirror, or a switchover is revoking permissions in the target");
        }
        return answer.getResponsesList();
    }

    /**
     * The roles and users that a mirror has at least started to copy.
     *
     * @param users by name, with the digest of the hash that is their password; empty for none
     */
    record Brought(Set<String> roles, Map<String, String> users) {

        Brought {
            roles = Set.copyOf(roles);
            users = Map.copyOf(users);
        }

        boolean isEmpty() {
            return roles.isEmpty() && users.isEmpty();
        }
    }
}
