package io.understudy.gateway.permission;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthRoleGetResponse;
import io.etcd.jetcd.api.AuthUserGetRequest;
import io.etcd.jetcd.api.Permission;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.etcd.AuthStatus;
import io.understudy.etcd.Calls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdErrors;
import io.understudy.gateway.metrics.GatewayMeter;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads users and roles at the source, as a user with the role {@code root}. Each read is answered by etcd through
 * consensus, so the result is current.
 */
final class SourceRoles implements RoleSource {

    private static final Duration DEADLINE = Duration.ofSeconds(1);
    private static final String NO_USER = "etcdserver: user name not found";
    private static final String NO_ROLE = "etcdserver: role name not found";

    private final EtcdCluster source;
    private final Timer answered;
    private final Timer failed;

    SourceRoles(EtcdCluster source, MeterRegistry registry) {
        this.source = source;
        this.answered = reads(registry, "ok");
        this.failed = reads(registry, "failed");
    }

    private static Timer reads(MeterRegistry registry, String outcome) {
        return GatewayMeter.PERMISSIONS_ROLE_READS
                .timer()
                .tag("outcome", outcome)
                .register(registry);
    }

    @Override
    public CompletableFuture<Long> revision() {
        return call(AuthStatus.METHOD, AuthStatus.request())
                .thenApply(answer -> AuthStatus.of(answer).revision());
    }

    @Override
    public CompletableFuture<Optional<List<String>>> rolesOf(String user) {
        AuthUserGetRequest request =
                AuthUserGetRequest.newBuilder().setName(user).build();
        return unless(
                NO_USER,
                Optional.empty(),
                call(AuthGrpc.getUserGetMethod(), request).thenApply(answer -> Optional.of(answer.getRolesList())));
    }

    @Override
    public CompletableFuture<List<Permission>> permissionsOf(String role) {
        AuthRoleGetRequest request =
                AuthRoleGetRequest.newBuilder().setRole(role).build();
        return unless(
                NO_ROLE,
                List.of(),
                call(AuthGrpc.getRoleGetMethod(), request).thenApply(AuthRoleGetResponse::getPermList));
    }

    private static <R> CompletableFuture<R> unless(String absent, R none, CompletableFuture<R> answer) {
        return answer.exceptionallyCompose(failure -> {
            Status why = Status.fromThrowable(failure);
            return absent.equals(why.getDescription())
                    ? CompletableFuture.completedFuture(none)
                    : CompletableFuture.failedFuture(failure);
        });
    }

    private <Q, A> CompletableFuture<A> call(MethodDescriptor<Q, A> method, Q request) {
        return new VoterCall<>(method, request).begin();
    }

    /** Calls one voting member after the other, until one answers. */
    private final class VoterCall<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private final Q request;
        private final Iterator<Endpoint> candidates =
                source.endpointsFor(Duty.WRITE).iterator();
        private final CompletableFuture<A> result = new CompletableFuture<>();
        private final long beganNanos = System.nanoTime();

        VoterCall(MethodDescriptor<Q, A> method, Q request) {
            this.method = method;
            this.request = request;
        }

        CompletableFuture<A> begin() {
            next(Status.UNAVAILABLE.withDescription("no member known"));
            return result;
        }

        private void next(Status last) {
            if (!candidates.hasNext()) {
                fail(last);
                return;
            }
            Calls.whenDone(
                    Calls.unary(source.channel(candidates.next()), method, request, DEADLINE), (answer, failure) -> {
                        if (failure == null) {
                            answered.record(Duration.ofNanos(System.nanoTime() - beganNanos));
                            result.complete(answer);
                        } else {
                            failed(Status.fromThrowable(failure));
                        }
                    });
        }

        private void failed(Status why) {
            try {
                // Read only, so a retry is safe.
                switch (EtcdErrors.classify(Duty.READ_INDEX, why).remedy()) {
                    case ELSEWHERE, OUTCOME_UNKNOWN -> next(why);
                    default -> fail(why);
                }
            } catch (RuntimeException e) {
                // An exception thrown into gRPC would leave the result incomplete.
                result.completeExceptionally(e);
            }
        }

        private void fail(Status why) {
            failed.record(Duration.ofNanos(System.nanoTime() - beganNanos));
            result.completeExceptionally(why.asRuntimeException());
        }
    }
}
