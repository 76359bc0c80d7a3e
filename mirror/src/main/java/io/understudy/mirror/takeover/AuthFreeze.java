package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthRoleListRequest;
import io.etcd.jetcd.api.AuthRoleRevokePermissionRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Freezes by withdrawing from all roles what lets them write the mirrored range. Permissions are checked when a write is
 * applied, so none that comes after it in the log slips through. Users with the role root are not held up.
 *
 * <p>A mark in the source, from before anything is withdrawn until it is all granted again, tells whoever copies roles from
 * there that they are not what they are meant to be, see {@link ReservedKeys#FREEZES}; and holds the journal as it was then, so
 * that who loses the other cluster can tell what is to be granted.
 *
 * <p>Invariant M14: permissions withdrawn by a freeze at the source stay in all targets, and those withdrawn in a
 * target are not granted there again.
 */
record AuthFreeze(PatientCalls source, MirrorScope scope, String mirror) implements Freeze {

    private static final String NOT_ENABLED = "etcdserver: authentication is not enabled";

    @Override
    public String does() {
        return "withdraws at " + source.shown() + " the permissions to write " + scope.shown()
                + " from all roles, and keeps them in the journal; users with the role root can still write";
    }

    @Override
    public String needs() {
        return "authentication enabled there, and a user with the role root";
    }

    @Override
    public String undone() {
        return "grants them again";
    }

    @Override
    public Journal prepare(Journal journal) {
        if (!journal.withdrawn().isEmpty()) {
            return journal;
        }
        if (!isEnabled()) {
            throw new TakeOverException("authentication is not enabled at " + source.shown()
                    + ", so everybody may write: use --freeze alarm");
        }
        return journal.edit().withdrawn(writable()).build();
    }

    @Override
    public void raise(Journal journal) {
        mark(RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ReservedKeys.freeze(mirror))
                        .setValue(JournalCodec.encode(journal)))
                .build());
        for (Grant grant : journal.withdrawn()) {
            if (grant.type() == Permission.Type.READWRITE) {
                grant(grant.of(Permission.Type.READ));
            } else if (writable().contains(grant)) {
                revoke(grant);
            }
        }
        List<Grant> left = writable();
        if (!left.isEmpty()) {
            throw new TakeOverException(
                    "write permissions were granted at " + source.shown() + " in the meantime: role "
                            + left.get(0).role() + " has one again. Run this again when this has stopped");
        }
    }

    @Override
    public boolean isRaised(Journal journal) {
        return writable().isEmpty();
    }

    @Override
    public void lift(Journal journal) {
        List<String> roles = roles();
        // A role that was deleted meanwhile has nothing to be given back.
        journal.withdrawn().stream()
                .filter(grant -> roles.contains(grant.role()))
                .forEach(this::grant);
        mark(RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(ReservedKeys.freeze(mirror)))
                .build());
    }

    private void mark(RequestOp operation) {
        var unused = source.txn(
                "the mark of withdrawn permissions",
                TxnRequest.newBuilder().addSuccess(operation).build());
    }

    /** Asked by what is said to somebody whom nobody knows: jetcd's messages lack the call for it. */
    private boolean isEnabled() {
        try {
            var unused = source.call(
                    "authentication",
                    AuthGrpc::newBlockingStub,
                    stub -> stub.authenticate(AuthenticateRequest.newBuilder()
                            .setName("understudy")
                            .setPassword("-")
                            .build()));
            return true;
        } catch (TakeOverException e) {
            return !String.valueOf(e.getMessage()).contains(NOT_ENABLED);
        }
    }

    /** Whatever lets a role write a key that is mirrored. */
    private List<Grant> writable() {
        List<KeyRange> mirrored = scope.sourceRanges();
        List<Grant> grants = new ArrayList<>();
        for (String role : roles()) {
            AuthRoleGetRequest request =
                    AuthRoleGetRequest.newBuilder().setRole(role).build();
            source.call("role " + role, AuthGrpc::newBlockingStub, stub -> stub.roleGet(request)).getPermList().stream()
                    .filter(each -> !role.equals("root") && each.getPermType() != Permission.Type.READ)
                    .filter(each -> meets(each, mirrored))
                    .forEach(
                            each -> grants.add(new Grant(role, each.getKey(), each.getRangeEnd(), each.getPermType())));
        }
        return grants;
    }

    private static boolean meets(Permission permission, List<KeyRange> mirrored) {
        KeyRange range = KeyRange.ofEtcd(permission.getKey(), permission.getRangeEnd());
        return mirrored.stream().anyMatch(range::intersects);
    }

    private List<String> roles() {
        return source.call(
                        "its roles",
                        AuthGrpc::newBlockingStub,
                        stub -> stub.roleList(AuthRoleListRequest.getDefaultInstance()))
                .getRolesList();
    }

    private void grant(Grant grant) {
        AuthRoleGrantPermissionRequest request = AuthRoleGrantPermissionRequest.newBuilder()
                .setName(grant.role())
                .setPerm(grant.permission())
                .build();
        var unused = source.call(
                "a grant to role " + grant.role(),
                AuthGrpc::newBlockingStub,
                stub -> stub.roleGrantPermission(request));
    }

    private void revoke(Grant grant) {
        AuthRoleRevokePermissionRequest request = AuthRoleRevokePermissionRequest.newBuilder()
                .setRole(grant.role())
                .setKey(grant.key())
                .setRangeEnd(grant.end())
                .build();
        var unused = source.call(
                "a permission of role " + grant.role() + " to be withdrawn",
                AuthGrpc::newBlockingStub,
                stub -> stub.roleRevokePermission(request));
    }
}
