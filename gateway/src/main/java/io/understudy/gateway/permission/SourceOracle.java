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
 * Asks the source itself, with the client's own token: by a serializable range over what the client wants to read, which
 * etcd answers only once it has found that the token may read it ({@code v3_server.go}, {@code doSerialize}). It asks for a
 * revision that will never be, so that what is permitted is answered by an error too, before anything is looked up.
 * Likewise for the role {@code root}: voting members of every version check it before the revision of a {@code HashKV}.
 *
 * <p>Who has confirmed a read index lately is asked first, usually a learner: it has all users and roles, and neither a log
 * entry nor a voter has any part in it. One that is cut off from the others, and goes on to answer, doesn't know what was
 * revoked. What is refused is refused; who can't be reached is no answer, and the next one is asked.
 */
final class SourceOracle implements Oracle<Principal.Token> {

    /** Of one question to one member. */
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    /** How long who confirmed a read index counts as being in touch with the others; the next one is due well before. */
    private static final long CONFIRMED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final ByteString ANY_KEY = ByteString.copyFrom(new byte[] {0});

    private final EtcdCluster source;
    private final Function<Endpoint, Channel> channels;

    /** {@code channels} are connections that say nothing of who is at this end. */
    SourceOracle(EtcdCluster source, Function<Endpoint, Channel> channels) {
        this.source = source;
        this.channels = channels;
    }

    @Override
    public CompletableFuture<Verdict> ask(Principal.Token token, Permission wanted) {
        if (!token.value().chars().allMatch(each -> each >= ' ' && each <= '~')) {
            // It could not be sent, and so never have been issued.
            return CompletableFuture.completedFuture(new Verdict.Refused(ApiException.invalidToken()));
        }
        Metadata headers = new Metadata();
        headers.put(Principal.Token.KEY, token.value());
        if (wanted == Permission.Standing.ROOT) {
            return new Inquiry<>(
                            MaintenanceGrpc.getHashKVMethod(),
                            HashKVRequest.newBuilder()
                                    .setRevision(Long.MAX_VALUE)
                                    .build(),
                            headers,
                            SourceOracle::verdict)
                    .begin()
                    .thenApply(Answer::verdict);
        }
        boolean ofKeys = wanted instanceof Permission.Read;
        RangeRequest range = wanted instanceof Permission.Read read
                ? range(read.key(), read.end())
                : range(ANY_KEY, ByteString.EMPTY);
        return new Inquiry<>(KVGrpc.getRangeMethod(), range, headers, status -> verdict(status)
                        // Who is refused a key is somebody.
                        .map(said -> !ofKeys && isDenied(status) ? Verdict.GRANTED : said))
                .begin()
                .thenApply(Answer::verdict);
    }

    /**
     * Whether who comes without a name is refused. That nobody is, is taken from one in touch with the others alone, once
     * there was any: all the rest may be of before authentication was enabled.
     */
    CompletableFuture<Boolean> isEnforced() {
        return new Inquiry<>(
                        KVGrpc.getRangeMethod(),
                        range(ANY_KEY, ByteString.EMPTY),
                        new Metadata(),
                        SourceOracle::verdict)
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

    /** Who has confirmed a read index lately. */
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

    /** Empty if it says nothing of permissions. */
    private static Optional<Verdict> verdict(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        EtcdError error = EtcdErrors.error(text);
        if (status.isOk() || error == EtcdError.FUTURE_REVISION) {
            return Optional.of(Verdict.GRANTED);
        }
        return switch (status.getCode()) {
            case INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED ->
                Optional.of(new Verdict.Refused(new ApiException(status.getCode(), text)));
            // A user that was removed, whose token says by itself who he was.
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

    /** One question, asked of one member after the other. */
    private final class Inquiry<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private final Q request;
        private final Metadata headers;
        private final Function<Status, Optional<Verdict>> meaning;
        private final Iterator<Endpoint> candidates;
        private final CompletableFuture<Answer> result = new CompletableFuture<>();

        Inquiry(
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
                    (answer, failure) -> told(member, failure == null ? Status.OK : Status.fromThrowable(failure)));
        }

        private void told(Endpoint member, Status status) {
            try {
                goOn(member, status);
            } catch (RuntimeException e) {
                // Thrown into gRPC it would leave the question open for ever.
                result.completeExceptionally(e);
            }
        }

        private void goOn(Endpoint member, Status status) {
            Optional<Verdict> verdict = meaning.apply(status);
            if (verdict.isPresent()) {
                result.complete(new Answer(verdict.get(), member));
            } else if (status.getCode() == Status.Code.DEADLINE_EXCEEDED && isHealthy(member)) {
                // It waits for what the token says it has to know first; for a token that was made up that is for ever.
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
