package io.understudy.gateway.permission;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.understudy.etcd.Calls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.Health;
import io.understudy.etcd.Member;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.Verdict;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Checks a permission at the source with the client's token. The request is a serializable range over the same keys,
 * which etcd evaluates only after the permission check ({@code v3_server.go}, {@code doSerialize}). It names a revision
 * in the far future, so that even a permitted request fails before any key is read. The role {@code root} is checked
 * likewise: voting members of every version check it before the revision of a {@code HashKV}.
 *
 * <p>The member that last confirmed a read index is tried first, usually a learner: it has all users and roles, and the
 * check costs neither a log entry nor a voting member. A partitioned member still answers, but lacks recent
 * revocations. A denial is final; an unreachable member is skipped.
 *
 * @param channels connections without a client certificate
 */
record SourceAuthorizer(EtcdCluster source, Function<Endpoint, Channel> channels)
        implements Authorizer<Principal.Token> {

    /** Deadline of one call. */
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    /**
     * Time for which a member counts as connected after it confirmed a read index. The next round is due well before.
     */
    private static final long CONFIRMED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final ByteString ANY_KEY = ByteString.copyFrom(new byte[] {0});

    @Override
    public CompletableFuture<Verdict> authorize(Principal.Token token, Permission wanted) {
        if (!Principal.Token.sendable(token.value())) {
            // Not valid in a header, so never issued.
            return CompletableFuture.completedFuture(new Verdict.Refused(ApiException.invalidToken()));
        }
        Metadata headers = new Metadata();
        headers.put(Principal.Token.KEY, token.value());
        if (wanted == Permission.Standing.ROOT) {
            return new MemberChecks<>(
                            MaintenanceGrpc.getHashKVMethod(),
                            HashKVRequest.newBuilder()
                                    .setRevision(Long.MAX_VALUE)
                                    .build(),
                            headers,
                            SourceAuthorizer::verdict)
                    .begin()
                    .thenApply(Answer::verdict);
        }
        boolean ofKeys = wanted instanceof Permission.Read;
        RangeRequest range = wanted instanceof Permission.Read read
                ? range(read.key(), read.end())
                : range(ANY_KEY, ByteString.EMPTY);
        return new MemberChecks<>(KVGrpc.getRangeMethod(), range, headers, status -> verdict(status)
                        // Only a known user is denied a key.
                        .map(verdict -> !ofKeys && isDenied(status) ? Verdict.GRANTED : verdict))
                .begin()
                .thenApply(Answer::verdict);
    }

    /**
     * Reads whether the source rejects a request without a user. A grant counts only from a connected member once there
     * is one: others may lack the change that enabled authentication.
     */
    CompletableFuture<Boolean> isEnforced() {
        return new MemberChecks<>(
                        KVGrpc.getRangeMethod(),
                        range(ANY_KEY, ByteString.EMPTY),
                        new Metadata(),
                        SourceAuthorizer::verdict)
                .begin()
                .thenApply(answer -> {
                    boolean refused = answer.verdict() instanceof Verdict.Refused;
                    if (!refused
                            && source.lastReadIndex().isPresent()
                            && !inTouch().contains(answer.by())) {
                        throw new IllegalStateException(
                                answer.by() + " grants full access, but has not confirmed a revision recently");
                    }
                    return refused;
                });
    }

    /** Returns the endpoints of the member that confirmed a read index recently. */
    private List<Endpoint> inTouch() {
        return source.lastReadIndex()
                .filter(last -> System.nanoTime() - last.sentNanos() < CONFIRMED_NANOS)
                .flatMap(last -> source.view().members().stream()
                        .filter(member -> member.id().equals(last.servedBy()))
                        .findFirst())
                .map(Member::endpoints)
                .orElse(List.of());
    }

    private record Answer(Verdict verdict, Endpoint by) {}

    private static RangeRequest range(ByteString key, ByteString end) {
        return RangeRequest.newBuilder()
                .setKey(key)
                .setRangeEnd(end)
                .setSerializable(true)
                .setKeysOnly(true)
                .setLimit(1)
                .setRevision(Long.MAX_VALUE)
                .build();
    }

    /** Empty if the status is unrelated to permissions. */
    private static Optional<Verdict> verdict(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        EtcdError error = EtcdErrors.error(text);
        if (status.isOk() || error == EtcdError.FUTURE_REVISION) {
            return Optional.of(Verdict.GRANTED);
        }
        return switch (status.getCode()) {
            case INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED ->
                Optional.of(new Verdict.Refused(new ApiException(status.getCode(), text)));
            // A removed user with a token that contains the name (JWT).
            case FAILED_PRECONDITION ->
                error == EtcdError.LEARNER_NOT_SUPPORTED
                        ? Optional.empty()
                        : Optional.of(new Verdict.Refused(new ApiException(status.getCode(), text)));
            // etcd 3.5 does not translate its errors here (v3rpc/maintenance.go).
            case UNKNOWN ->
                switch (text) {
                    case "auth: permission denied" -> Optional.of(new Verdict.Refused(ApiException.permissionDenied()));
                    case "auth: invalid auth token" -> Optional.of(new Verdict.Refused(ApiException.invalidToken()));
                    case "auth: user name is empty" -> Optional.of(new Verdict.Refused(ApiException.userNameEmpty()));
                    default -> Optional.empty();
                };
            default -> Optional.empty();
        };
    }

    private static boolean isDenied(Status status) {
        return status.getCode() == Status.Code.PERMISSION_DENIED;
    }

    /** Sends one check to one member after the other. */
    private final class MemberChecks<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private final Q request;
        private final Metadata headers;
        private final Function<Status, Optional<Verdict>> meaning;
        private final Iterator<Endpoint> candidates;
        private final CompletableFuture<Answer> result = new CompletableFuture<>();

        MemberChecks(
                MethodDescriptor<Q, A> method,
                Q request,
                Metadata headers,
                Function<Status, Optional<Verdict>> meaning) {
            this.method = method;
            this.request = request;
            this.headers = headers;
            this.meaning = meaning;
            Set<Endpoint> order = new LinkedHashSet<>(inTouch());
            order.addAll(source.endpointsFor(Duty.READ_INDEX));
            order.addAll(source.endpointsFor(Duty.SNAPSHOT));
            this.candidates = order.iterator();
        }

        CompletableFuture<Answer> begin() {
            next();
            return result;
        }

        private void next() {
            if (!candidates.hasNext()) {
                result.completeExceptionally(ApiException.timedOut());
                return;
            }
            Endpoint member = candidates.next();
            Channel channel = ClientInterceptors.intercept(
                    channels.apply(member), MetadataUtils.newAttachHeadersInterceptor(headers));
            Calls.whenDone(
                    Calls.unary(channel, method, request, DEADLINE),
                    (answer, failure) -> answered(member, failure == null ? Status.OK : Status.fromThrowable(failure)));
        }

        private void answered(Endpoint member, Status status) {
            try {
                resolve(member, status);
            } catch (RuntimeException e) {
                // An exception thrown into gRPC would leave the result incomplete.
                result.completeExceptionally(e);
            }
        }

        private void resolve(Endpoint member, Status status) {
            Optional<Verdict> verdict = meaning.apply(status);
            if (verdict.isPresent()) {
                result.complete(new Answer(verdict.get(), member));
            } else if (status.getCode() == Status.Code.DEADLINE_EXCEEDED && isHealthy(member)) {
                // It waits for the auth revision that the token names; a forged token may name any.
                result.completeExceptionally(ApiException.timedOut());
            } else {
                next();
            }
        }

        private boolean isHealthy(Endpoint member) {
            return source.view()
                    .memberAt(member)
                    .filter(known -> known.health() == Health.HEALTHY)
                    .isPresent();
        }
    }
}
