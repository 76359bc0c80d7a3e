package io.understudy.gateway.forward;

import static io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING;
import static io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING;
import static io.grpc.MethodDescriptor.MethodType.UNARY;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.CompactionRequest;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.understudy.etcd.Duty;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A method of etcd's API, and what a gateway does with its calls. The list {@link #ALL} has every method of etcd 3.5
 * ({@code api/etcdserverpb/rpc.proto}, {@code v3lockpb}, {@code v3electionpb}).
 *
 * @param wire name and type, with messages as bytes
 * @param duty selects the members
 * @param patient whether any answer may take any time, since the method waits for other clients
 */
public record EtcdMethod(MethodDescriptor<byte[], byte[]> wire, Treatment treatment, Duty duty, boolean patient) {

    /** How a call is handled that the gateway does not answer itself. */
    public enum Treatment {
        /** Read only: forwarded. */
        READ,
        /** Forwarded or rejected, as configured for writes. */
        WRITE,
        /** Concerns a member's own database; a gateway has none, and another member's would be misleading. Rejected. */
        REFUSED
    }

    private static final String KV = "etcdserverpb.KV/";
    private static final String LEASE = "etcdserverpb.Lease/";
    private static final String CLUSTER = "etcdserverpb.Cluster/";
    private static final String MAINTENANCE = "etcdserverpb.Maintenance/";
    static final String WATCH = "etcdserverpb.Watch/Watch";
    static final String COMPACT = KV + "Compact";
    static final String ALARM = MAINTENANCE + "Alarm";
    private static final String AUTH = "etcdserverpb.Auth/";
    static final String AUTHENTICATE = AUTH + "Authenticate";
    static final String AUTH_STATUS = AUTH + "AuthStatus";
    static final String AUTH_ENABLE = AUTH + "AuthEnable";
    static final String AUTH_DISABLE = AUTH + "AuthDisable";
    static final String MEMBER_REMOVE = CLUSTER + "MemberRemove";
    private static final String LOCK = "v3lockpb.Lock/";
    private static final String ELECTION = "v3electionpb.Election/";

    /** Every method of etcd 3.5. */
    public static final List<EtcdMethod> ALL = List.of(
            read(KV + "Range"),
            write(KV + "Put"),
            write(KV + "DeleteRange"),
            write(KV + "Txn"),
            write(COMPACT),
            stream(WATCH, BIDI_STREAMING, Treatment.WRITE, Duty.WATCH),
            write(LEASE + "LeaseGrant"),
            write(LEASE + "LeaseRevoke"),
            stream(LEASE + "LeaseKeepAlive", BIDI_STREAMING, Treatment.WRITE, Duty.WRITE),
            read(LEASE + "LeaseTimeToLive"),
            read(LEASE + "LeaseLeases"),
            write(CLUSTER + "MemberAdd"),
            write(MEMBER_REMOVE),
            write(CLUSTER + "MemberUpdate"),
            read(CLUSTER + "MemberList"),
            write(CLUSTER + "MemberPromote"),
            unary(ALARM, Treatment.WRITE, false),
            read(MAINTENANCE + "Status"),
            refused(MAINTENANCE + "Defragment"),
            refused(MAINTENANCE + "Hash"),
            refused(MAINTENANCE + "HashKV"),
            stream(MAINTENANCE + "Snapshot", SERVER_STREAMING, Treatment.READ, Duty.SNAPSHOT),
            write(MAINTENANCE + "MoveLeader"),
            write(MAINTENANCE + "Downgrade"),
            write(AUTH_ENABLE),
            write(AUTH_DISABLE),
            read(AUTH_STATUS),
            read(AUTHENTICATE),
            write(AUTH + "UserAdd"),
            write(AUTH + "UserGet"),
            write(AUTH + "UserList"),
            write(AUTH + "UserDelete"),
            write(AUTH + "UserChangePassword"),
            write(AUTH + "UserGrantRole"),
            write(AUTH + "UserRevokeRole"),
            write(AUTH + "RoleAdd"),
            write(AUTH + "RoleGet"),
            write(AUTH + "RoleList"),
            write(AUTH + "RoleDelete"),
            write(AUTH + "RoleGrantPermission"),
            write(AUTH + "RoleRevokePermission"),
            waiting(LOCK + "Lock"),
            write(LOCK + "Unlock"),
            waiting(ELECTION + "Campaign"),
            write(ELECTION + "Proclaim"),
            write(ELECTION + "Leader"),
            stream(ELECTION + "Observe", SERVER_STREAMING, Treatment.WRITE, Duty.WRITE),
            write(ELECTION + "Resign"));

    private static final Map<String, EtcdMethod> BY_NAME =
            ALL.stream().collect(Collectors.toUnmodifiableMap(EtcdMethod::fullName, Function.identity()));

    /** Returns the method; null if etcd 3.5 does not have it. */
    public static @Nullable EtcdMethod named(String fullName) {
        return BY_NAME.get(fullName);
    }

    /** Such as {@code etcdserverpb.KV/Put}. */
    public String fullName() {
        return wire.getFullMethodName();
    }

    /** Whether a call has exactly one request, which is forwarded when complete. */
    public boolean oneRequest() {
        return wire.getType().clientSendsOneMessage();
    }

    /** Whether a call also has exactly one answer. */
    public boolean unary() {
        return wire.getType() == UNARY;
    }

    /** Whether the answer to this request may take any time. A physical compaction is answered once it has ended. */
    boolean isPatient(byte @Nullable [] request) {
        if (patient || request == null || !fullName().equals(COMPACT)) {
            return patient;
        }
        try {
            return CompactionRequest.parseFrom(request).getPhysical();
        } catch (InvalidProtocolBufferException e) {
            return false;
        }
    }

    private static EtcdMethod read(String name) {
        return unary(name, Treatment.READ, false);
    }

    private static EtcdMethod write(String name) {
        return unary(name, Treatment.WRITE, false);
    }

    private static EtcdMethod waiting(String name) {
        return unary(name, Treatment.WRITE, true);
    }

    private static EtcdMethod refused(String name) {
        return unary(name, Treatment.REFUSED, false);
    }

    private static EtcdMethod unary(String name, Treatment treatment, boolean patient) {
        return new EtcdMethod(Bytes.method(name, UNARY), treatment, Duty.WRITE, patient);
    }

    private static EtcdMethod stream(String name, MethodType type, Treatment treatment, Duty duty) {
        return new EtcdMethod(Bytes.method(name, type), treatment, duty, true);
    }

    /** Messages as they are on the wire. */
    public enum Bytes implements MethodDescriptor.Marshaller<byte[]> {
        AS_THEY_ARE;

        /** Returns a method with opaque messages. */
        public static MethodDescriptor<byte[], byte[]> method(String fullName, MethodDescriptor.MethodType type) {
            return MethodDescriptor.<byte[], byte[]>newBuilder(AS_THEY_ARE, AS_THEY_ARE)
                    .setFullMethodName(fullName)
                    .setType(type)
                    .build();
        }

        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream message) {
            try {
                return message.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
