package io.understudy.gateway.forward;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.MemberRemoveRequest;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Health;
import io.understudy.etcd.Member;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwards calls to the source, or rejects them as a learner does.
 *
 * <p>Invariant W2: forwarded requests, tokens, responses and errors arrive unchanged, for every client.
 *
 * <p>Invariant W7: no forwarded request has an enum value that etcd's schema lacks; such a value can end etcd's
 * process.
 *
 * <p>Invariant W5: Patroni elects and configures PostgreSQL through gateways while a voter and a leader are killed.
 *
 * <p>Invariant P3: a client without a token never acts with the token or certificate of the gateway, whatever it calls.
 */
public final class SourceForwarding implements Forwarding {

    /** Time for which a call may still get answers of a member that does not respond to probes. */
    private static final Duration DOUBT = Duration.ofSeconds(1);

    private final EtcdCluster source;
    private final ForwardSettings settings;
    private final ForwardMetrics metrics;
    private final Executed executed;
    private final BooleanSupplier authenticationEnabled;
    private final boolean showsCertificate;
    private final Map<Duty, Retries> retries = new EnumMap<>(Duty.class);
    /** Those that wait for any time. */
    private final Set<ForwardedCall> patient = ConcurrentHashMap.newKeySet();

    /** Receives changes made by forwarded calls, before their clients are answered. Called on any thread. */
    public interface Executed {

        /** A client is to get an answer with that revision. False if it must not get it. */
        boolean answered(long revision);

        /** The source has compacted all revisions before that one. */
        void compacted(long revision);

        /** The source has enabled or disabled authentication. */
        void authentication(boolean enabled);
    }

    /**
     * @param authenticationEnabled whether the source is known to have authentication enabled
     * @param showsCertificate whether this gateway presents a client certificate; etcd then maps requests without a
     *     token to its name
     */
    public SourceForwarding(
            EtcdCluster source,
            ForwardSettings settings,
            ForwardMetrics metrics,
            Executed executed,
            BooleanSupplier authenticationEnabled,
            boolean showsCertificate) {
        this.source = source;
        this.settings = settings;
        this.metrics = metrics;
        this.executed = executed;
        this.authenticationEnabled = authenticationEnabled;
        this.showsCertificate = showsCertificate;
        for (Duty duty : Duty.values()) {
            retries.put(duty, new Retries(metrics.held()));
        }
        Runnable unused = source.whenUnreachable(this::unreachable);
    }

    /** Ends calls to a member that neither they nor probes get answers from. Their connection would notice after 13 s. */
    private void unreachable(Member member) {
        long sinceNanos = System.nanoTime();
        CompletableFuture.delayedExecutor(DOUBT.toMillis(), TimeUnit.MILLISECONDS, Runnable::run)
                .execute(() -> source.view()
                        .member(member.id())
                        .filter(same -> same.health() == Health.UNREACHABLE)
                        .ifPresent(same -> patient.forEach(call -> call.unreachable(same.endpoints(), sinceNanos))));
    }

    /** The source was replaced: calls not yet sent end. */
    public void superseded() {
        retries.values().forEach(Retries::end);
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request) {
        if (refuses(method) && !listsAlarms(method, request)) {
            return Refusals.end(client, notSupported(method));
        }
        ApiException why = refusal(method, caller);
        if (why == null && request != null) {
            why = EnumValues.refusal(method, request);
        }
        if (why == null && method.fullName().equals(EtcdMethod.WATCH) && metrics.watches() >= settings.maxWatches()) {
            why = new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: too many forwarded watches; allowed: " + settings.maxWatches()
                            + " (forward.maxWatches)");
        }
        if (why != null) {
            return Refusals.end(client, why);
        }
        ForwardedCall call = new ForwardedCall(
                method,
                client,
                headers,
                caller,
                loop,
                source,
                () -> members(method, request),
                metrics,
                Objects.requireNonNull(retries.get(method.duty())),
                request,
                settings.timeout(),
                revision -> {
                    executed(method, request);
                    return executed.answered(revision);
                },
                patient);
        call.start();
        return call;
    }

    /** Returns the members that can execute a call, best first. */
    private List<Endpoint> members(EtcdMethod method, byte @Nullable [] request) {
        // Keep-alives end with their member, so they may go to any.
        List<Endpoint> members = method.duty() == Duty.WRITE && method.unary()
                ? source.endpointsForUnsentWrite()
                : source.endpointsFor(method.duty());
        if (request == null || !method.fullName().equals(EtcdMethod.MEMBER_REMOVE)) {
            return members;
        }
        try {
            MemberId removed =
                    new MemberId(MemberRemoveRequest.parseFrom(request).getID());
            List<Endpoint> own =
                    source.view().member(removed).map(Member::endpoints).orElse(List.of());
            // A member that is removed may stop before it answers.
            return members.stream().sorted(Comparator.comparing(own::contains)).toList();
        } catch (InvalidProtocolBufferException e) {
            return members;
        }
    }

    /** Rejects a caller without a sendable token: to the source it would be the gateway. Null if permitted. */
    private @Nullable ApiException refusal(EtcdMethod method, Caller caller) {
        if (!authenticationEnabled.getAsBoolean() || method.fullName().equals(EtcdMethod.AUTHENTICATE)) {
            return null;
        }
        if (caller.principal() instanceof Principal.Token token && !Principal.Token.sendable(token.value())) {
            return ApiException.invalidToken();
        }
        if (method.fullName().equals(EtcdMethod.AUTH_STATUS)
                && !source.view().version().authStatusRequiresRoot()) {
            return null;
        }
        if (caller.principal() instanceof Principal.Certificate) {
            return new ApiException(
                    Status.Code.PERMISSION_DENIED,
                    "understudy: the name in a client certificate is not forwarded; authenticate and use the token");
        }
        return showsCertificate && caller.principal() instanceof Principal.Anonymous
                ? ApiException.userNameEmpty()
                : null;
    }

    private void executed(EtcdMethod method, byte @Nullable [] request) {
        if (request == null) {
            return;
        }
        switch (method.fullName()) {
            case EtcdMethod.AUTH_ENABLE -> executed.authentication(true);
            case EtcdMethod.AUTH_DISABLE -> executed.authentication(false);
            case EtcdMethod.COMPACT -> {
                try {
                    executed.compacted(CompactionRequest.parseFrom(request).getRevision());
                } catch (InvalidProtocolBufferException e) {
                    // The source has answered, so the request was valid.
                }
            }
            default -> {}
        }
    }

    private ApiException notSupported(EtcdMethod method) {
        return method.treatment() == EtcdMethod.Treatment.REFUSED
                ? ApiException.neverSupported()
                : ApiException.notSupportedForLearner(source.view().version());
    }

    private boolean refuses(EtcdMethod method) {
        return switch (method.treatment()) {
            case READ -> false;
            case WRITE -> settings.writes() == Writes.REFUSE;
            case REFUSED -> true;
        };
    }

    /** Whether an alarm request only reads, as that of {@code etcdctl endpoint health}. */
    private static boolean listsAlarms(EtcdMethod method, byte @Nullable [] request) {
        if (request == null || !method.fullName().equals(EtcdMethod.ALARM)) {
            return false;
        }
        try {
            return AlarmRequest.parseFrom(request).getAction() == AlarmRequest.AlarmAction.GET;
        } catch (InvalidProtocolBufferException e) {
            return false;
        }
    }
}
