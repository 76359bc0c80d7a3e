package io.understudy.gateway.permission;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.permission.Grants.Grant;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The source's permissions, as it tells them itself, for what the gateway answers in its place. What was granted holds for a
 * short while; each question is asked once however many wait for it. Where nobody can tell, nothing is permitted.
 *
 * <p>Invariant P1: a client reads only what the source permits, at most one grant lifetime late; unknown permissions
 * are denied.
 *
 * <p>Invariant P2: users with any roles get etcd's responses and denials, by token and by certificate.
 */
public final class EnforcedPermissions implements ReadPermissions, AutoCloseable {

    /** In a row, of what somebody may read beside what it asked for. */
    private static final int MOST_GUESSES = 6;

    private static final Future<Void> PERMITTED = Future.succeededFuture();

    private final Vertx vertx;
    private final ScheduledExecutorService thread;
    private final Authentication authentication;
    private final Oracle<Principal.Token> tokens;
    private final Oracle<Principal.Certificate> names;
    private final boolean watchRecheck;
    private final Grants grants;
    private final PermissionMetrics metrics;
    private final ConcurrentMap<Asked, Question> underWay = new ConcurrentHashMap<>();
    private final Room room = new Room();
    private final LongSupplier clock;

    /**
     * Asks nobody until {@link #start}.
     *
     * @param thread for what is done now and then; must not be held up
     * @param authentication whether the source has it enabled; fails if nobody can tell
     * @param clock in nanoseconds, measures the age of a grant
     */
    EnforcedPermissions(
            Vertx vertx,
            ScheduledExecutorService thread,
            Supplier<CompletableFuture<Boolean>> authentication,
            Oracle<Principal.Token> tokens,
            Oracle<Principal.Certificate> names,
            PermissionSettings settings,
            MeterRegistry registry,
            LongSupplier clock) {
        this.clock = clock;
        this.vertx = vertx;
        this.thread = thread;
        this.authentication = new Authentication(authentication);
        this.tokens = tokens;
        this.names = names;
        this.watchRecheck = settings.watchRecheck();
        this.grants = new Grants(settings.maxAge());
        this.metrics = new PermissionMetrics(registry, this.authentication::state, grants::size);
    }

    /** Those of {@code source}; asks nobody until {@link #start}. */
    public static EnforcedPermissions of(
            Vertx vertx, EtcdCluster source, PermissionSettings settings, MeterRegistry registry) {
        SourceOracle oracle = new SourceOracle(source, source::bareChannel);
        Oracle<Principal.Certificate> names =
                settings.roles() ? new RoleOracle(new SourceRoles(source, registry)) : new UnknownNames();
        return new EnforcedPermissions(
                vertx, source.thread(), oracle::isEnforced, oracle, names, settings, registry, System::nanoTime);
    }

    /** Begins to ask whether there is anything to be enforced. */
    public void start() {
        authentication.start(thread);
    }

    /** Reads the authentication state of the source now; completes, never with a failure, when it is known. */
    public CompletableFuture<Void> refresh() {
        return authentication.ask();
    }

    /** The source has enabled or disabled authentication. */
    public void switched(boolean enabled) {
        authentication.switched(enabled);
    }

    @Override
    public boolean areRechecked() {
        return watchRecheck && isEnforced();
    }

    /** Whether authentication is known to be enabled. */
    public boolean isEnforced() {
        return authentication.state() == Authentication.State.ON;
    }

    /** Why nothing is permitted, though it might be. */
    public Optional<String> problem() {
        return authentication.state() == Authentication.State.UNKNOWN
                ? Optional.of("authentication state of the source unknown")
                : Optional.empty();
    }

    @Override
    public Future<Void> check(Principal principal, Permission wanted) {
        return switch (authentication.state()) {
            case OFF -> PERMITTED;
            case ON -> enforce(principal, wanted);
            case UNKNOWN ->
                later(refresh()).compose(known -> switch (authentication.state()) {
                    case OFF -> PERMITTED;
                    case ON -> enforce(principal, wanted);
                    case UNKNOWN -> Future.failedFuture(ApiException.timedOut());
                });
        };
    }

    private Future<Void> enforce(Principal principal, Permission wanted) {
        if (principal instanceof Principal.Anonymous) {
            return wanted == Permission.Standing.ANYBODY
                    ? PERMITTED
                    : Future.failedFuture(ApiException.userNameEmpty());
        }
        Asked asked = new Asked(principal, wanted);
        long now = clock.getAsLong();
        Grant grant = grants.covering(asked, now);
        if (grant == null) {
            return later(ask(asked).answer).compose(verdict -> {
                if (verdict instanceof Verdict.Refused refused) {
                    return Future.failedFuture(refused.why());
                }
                widen(asked, MOST_GUESSES);
                return PERMITTED;
            });
        }
        if (grants.ageing(grant, now)) {
            renew(new Asked(principal, grant.permission()));
        }
        return PERMITTED;
    }

    /** Beside the request, which is not held up by it. */
    private void renew(Asked asked) {
        if (!underWay.containsKey(asked)) {
            Question question = ask(asked);
            whenTold(question.answer, (verdict, failure) -> {
                if (verdict instanceof Verdict.Granted && asked.wanted() instanceof Permission.Read read) {
                    grants.renewed(asked.principal(), read, question.sentNanos);
                }
            });
        }
    }

    /** Finds out, beside the request, whether more is permitted than was asked for. */
    private void widen(Asked asked, int guessesLeft) {
        if (!(asked.wanted() instanceof Permission.Read read) || guessesLeft == 0) {
            return;
        }
        Permission.Read guess = grants.guess(asked.principal(), read, clock.getAsLong());
        if (guess == null) {
            return;
        }
        Asked wider = new Asked(asked.principal(), guess);
        Question question = ask(wider);
        whenTold(question.answer, (verdict, failure) -> {
            if (verdict == null) {
                grants.notGuessed(asked.principal());
            } else if (verdict instanceof Verdict.Granted) {
                grants.guessedRight(asked.principal(), guess, question.sentNanos);
                widen(wider, guessesLeft - 1);
            } else {
                grants.guessedWrong(asked.principal(), guess, clock.getAsLong());
                widen(asked, guessesLeft - 1);
            }
        });
    }

    /** What is asked for all who wait for it. */
    private static final class Question {
        private final CompletableFuture<Verdict> answer = new CompletableFuture<>();
        private final long sentNanos;

        Question(long sentNanos) {
            this.sentNanos = sentNanos;
        }
    }

    private Question ask(Asked asked) {
        Question question = new Question(clock.getAsLong());
        Question same = underWay.putIfAbsent(asked, question);
        if (same != null) {
            return same;
        }
        Runnable giveBack = room.take(asked.principal(), !grants.knows(asked.principal()));
        if (giveBack == null) {
            underWay.remove(asked);
            question.answer.completeExceptionally(ApiException.tooManyRequests());
            return question;
        }
        whenTold(askOracle(asked), (verdict, failure) -> {
            note(asked, question, verdict);
            underWay.remove(asked);
            giveBack.run();
            if (verdict == null) {
                question.answer.completeExceptionally(failure == null ? ApiException.timedOut() : failure);
            } else {
                question.answer.complete(verdict);
            }
        });
        return question;
    }

    private void note(Asked asked, Question question, @Nullable Verdict verdict) {
        Duration took = Duration.ofNanos(clock.getAsLong() - question.sentNanos);
        if (verdict == null) {
            metrics.unknown(took);
        } else if (verdict instanceof Verdict.Granted) {
            metrics.granted(took);
            grants.granted(asked, question.sentNanos);
        } else {
            metrics.refused(took);
            grants.refused(asked);
        }
    }

    private CompletableFuture<Verdict> askOracle(Asked asked) {
        try {
            return asked.principal() instanceof Principal.Token token
                    ? tokens.ask(token, asked.wanted())
                    : names.ask((Principal.Certificate) asked.principal(), asked.wanted());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** On the event loop that this is called on. */
    private <T> Future<T> later(CompletableFuture<T> told) {
        Context loop = vertx.getOrCreateContext();
        Promise<T> promise = Promise.promise();
        whenTold(
                told,
                (result, failure) -> loop.runOnContext(now -> {
                    if (failure == null) {
                        promise.complete(result);
                    } else {
                        promise.fail(failure instanceof ApiException ? failure : ApiException.timedOut());
                    }
                }));
        return promise.future();
    }

    private static <T> void whenTold(
            CompletableFuture<T> told, BiConsumer<? super @Nullable T, @Nullable Throwable> then) {
        var unused = told.whenComplete(then);
    }

    /** Asks no more. */
    @Override
    public void close() {
        authentication.close();
    }

    /** What is measured of permissions. For any thread. */
    private static final class PermissionMetrics {

        private final Timer granted;
        private final Timer refused;
        private final Timer unknown;

        PermissionMetrics(MeterRegistry registry, Supplier<Authentication.State> state, LongSupplier cached) {
            this.granted = checks(registry, "granted");
            this.refused = checks(registry, "refused");
            this.unknown = checks(registry, "unknown");
            // Those of the former source, where the primary has moved.
            registry.find(GatewayMeter.PERMISSIONS_ENFORCED.metric().name())
                    .gauges()
                    .forEach(registry::remove);
            registry.find(GatewayMeter.PERMISSIONS_CACHED.metric().name())
                    .gauges()
                    .forEach(registry::remove);
            GatewayMeter.PERMISSIONS_ENFORCED
                    .gauge(() -> switch (state.get()) {
                        case UNKNOWN -> Double.NaN;
                        case OFF -> 0.0;
                        case ON -> 1.0;
                    })
                    .strongReference(true)
                    .register(registry);
            GatewayMeter.PERMISSIONS_CACHED
                    .gauge(cached::getAsLong)
                    .strongReference(true)
                    .register(registry);
        }

        private static Timer checks(MeterRegistry registry, String outcome) {
            return GatewayMeter.PERMISSIONS_CHECKS
                    .timer()
                    .tag("outcome", outcome)
                    .register(registry);
        }

        void granted(Duration took) {
            granted.record(took);
        }

        void refused(Duration took) {
            refused.record(took);
        }

        void unknown(Duration took) {
            unknown.record(took);
        }
    }
}
