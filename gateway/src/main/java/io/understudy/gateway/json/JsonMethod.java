package io.understudy.gateway.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import io.etcd.jetcd.api.CampaignRequest;
import io.etcd.jetcd.api.lock.LockRequest;
import io.understudy.gateway.api.EtcdSchema;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An etcd method with a JSON mapping.
 *
 * @param fullName such as {@code etcdserverpb.KV/Range}
 */
record JsonMethod(String fullName, Descriptor request, Descriptor answer, Shape shape) {

    /** Path below {@code /v3/}, service, method, and prefix of its messages, if another. */
    private static final String ROUTES = """
            kv/range KV Range
            kv/put KV Put
            kv/deleterange KV DeleteRange
            kv/txn KV Txn
            kv/compaction KV Compact Compaction
            lease/grant Lease LeaseGrant
            lease/revoke Lease LeaseRevoke
            kv/lease/revoke Lease LeaseRevoke
            lease/timetolive Lease LeaseTimeToLive
            kv/lease/timetolive Lease LeaseTimeToLive
            lease/leases Lease LeaseLeases
            kv/lease/leases Lease LeaseLeases
            cluster/member/add Cluster MemberAdd
            cluster/member/remove Cluster MemberRemove
            cluster/member/update Cluster MemberUpdate
            cluster/member/list Cluster MemberList
            cluster/member/promote Cluster MemberPromote
            maintenance/alarm Maintenance Alarm
            maintenance/status Maintenance Status
            maintenance/defragment Maintenance Defragment
            maintenance/hash Maintenance Hash
            maintenance/hashkv Maintenance HashKV
            maintenance/transfer-leadership Maintenance MoveLeader
            maintenance/downgrade Maintenance Downgrade
            auth/enable Auth AuthEnable
            auth/disable Auth AuthDisable
            auth/status Auth AuthStatus
            auth/authenticate Auth Authenticate
            auth/user/add Auth UserAdd AuthUserAdd
            auth/user/get Auth UserGet AuthUserGet
            auth/user/list Auth UserList AuthUserList
            auth/user/delete Auth UserDelete AuthUserDelete
            auth/user/changepw Auth UserChangePassword AuthUserChangePassword
            auth/user/grant Auth UserGrantRole AuthUserGrantRole
            auth/user/revoke Auth UserRevokeRole AuthUserRevokeRole
            auth/role/add Auth RoleAdd AuthRoleAdd
            auth/role/get Auth RoleGet AuthRoleGet
            auth/role/list Auth RoleList AuthRoleList
            auth/role/delete Auth RoleDelete AuthRoleDelete
            auth/role/grant Auth RoleGrantPermission AuthRoleGrantPermission
            auth/role/revoke Auth RoleRevokePermission AuthRoleRevokePermission
            watch Watch Watch
            lease/keepalive Lease LeaseKeepAlive
            maintenance/snapshot Maintenance Snapshot
            election/observe Election Observe Leader
            lock/lock Lock Lock
            lock/unlock Lock Unlock
            election/campaign Election Campaign
            election/proclaim Election Proclaim
            election/leader Election Leader
            election/resign Election Resign
            """;

    /** Which sides of a call are streams. */
    enum Shape {
        /** One message each. */
        UNARY,
        /** A stream of answers to one request. */
        ANSWERS,
        /** Streams in both directions. */
        BOTH;

        /** Methods that jetcd lacks are unary. */
        private static Shape of(@Nullable MethodDescriptor known) {
            return known == null || !known.isServerStreaming() ? UNARY : known.isClientStreaming() ? BOTH : ANSWERS;
        }
    }

    private static final Map<String, String> OTHER_PACKAGES = Map.of("Lock", "v3lockpb", "Election", "v3electionpb");

    /**
     * Every method by its path. The paths are those of the {@code google.api.http} options in etcd's {@code rpc.proto},
     * {@code v3lock.proto} and {@code v3election.proto}.
     */
    static Map<String, JsonMethod> byPath() {
        EtcdSchema etcd = new EtcdSchema();
        Map<String, FileDescriptor> files = Map.of(
                "Lock", LockRequest.getDescriptor().getFile(),
                "Election", CampaignRequest.getDescriptor().getFile());
        Map<String, JsonMethod> methods = new HashMap<>();
        for (String row : ROUTES.lines().toList()) {
            List<String> words = List.of(row.split(" "));
            String service = words.get(1);
            String method = words.get(2);
            String message = words.get(words.size() - 1);
            FileDescriptor file = files.getOrDefault(service, etcd.rpc());
            methods.put(
                    "/v3/" + words.get(0),
                    new JsonMethod(
                            OTHER_PACKAGES.getOrDefault(service, "etcdserverpb") + "." + service + "/" + method,
                            file.findMessageTypeByName(message + "Request"),
                            file.findMessageTypeByName(message + "Response"),
                            Shape.of(file.findServiceByName(service).findMethodByName(method))));
        }
        return Map.copyOf(methods);
    }
}
