package io.understudy.etcd;

import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthUserListRequest;
import io.etcd.jetcd.api.AuthUserListResponse;
import io.grpc.MethodDescriptor;
import java.util.List;

/**
 * Whether a cluster's authentication is enabled, and the revision of its users and roles. Each change of them raises
 * that. jetcd lacks the call: its empty request is that of a list of users, and that response keeps unknown fields.
 */
public record AuthStatus(boolean enabled, long revision) {

    /** Field of {@code AuthStatusResponse}. */
    private static final int ENABLED = 2;

    private static final int AUTH_REVISION = 3;

    /** The call; it requires the role {@code root} where authentication is enabled. */
    public static final MethodDescriptor<AuthUserListRequest, AuthUserListResponse> METHOD =
            AuthGrpc.getUserListMethod().toBuilder()
                    .setFullMethodName("etcdserverpb.Auth/AuthStatus")
                    .setSchemaDescriptor(null)
                    .build();

    /** The request of {@link #METHOD}. */
    public static AuthUserListRequest request() {
        return AuthUserListRequest.getDefaultInstance();
    }

    /** The status in a response of {@link #METHOD}. */
    public static AuthStatus of(AuthUserListResponse answer) {
        return new AuthStatus(last(answer, ENABLED) != 0, last(answer, AUTH_REVISION));
    }

    private static long last(AuthUserListResponse answer, int field) {
        UnknownFieldSet fields = answer.getUnknownFields();
        List<Long> values = fields.getField(field).getVarintList();
        // Zero is left out.
        return values.isEmpty() ? 0 : values.get(values.size() - 1);
    }
}
