package io.understudy.gateway.permission;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.permission.Authorizer.PermissionRequest;
import io.understudy.gateway.permission.Authorizer.Verdict;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enforces the source's permissions on requests that the gateway answers itself. Caches grants briefly; concurrent
 * checks of the same permission share one request to the source.
 *
 * <p>Invariant P1: a client reads only what the source permits, at most one grant lifetime late; unknown permissions
 * are denied.
 *
 * <p>Invariant P2: users with any roles get etcd's responses and denials, by token and by certificate.
 */
public final class EnforcedPermissions implements ReadPermissions, AutoCloseable {

    /** Attempts in a row to extend a grant to a wider range. */
    private static final int MOST_GUESSES = 6;

    /** Longest time for which a check is queued. */
    private static final Duration MOST_WAIT = Duration.ofSeconds(5);

    private static final Future<Void> PERMITTED = Future.succeededFuture();

    private final Vertx vertx;
    private final ScheduledExecutorService thread;
    private final Authentication authentication;
    private final Authorizer<Principal.Token> tokens;
    private final Authorizer<Principal.Certificate> names;
    private final boolean watchRecheck;
    private final Grants grants;
    private final PermissionMetrics metrics;
    private final ConcurrentMap<PermissionRequest, Check> underWay = new ConcurrentHashMap<>();
    private final PermissionCheckQuota quota = new PermissionCheckQuota(MOST_WAIT);
    private final LongSupplier clock;

    /**
     * Sends no request until {@link #start}.
     *
     * @param thread for periodic tasks; must not be blocked
     * @param authentication whether the source has it enabled; fails if unknown
     * @param clock in nanoseconds, measures the age of a grant
     */
    EnforcedPermissions(
            Vertx vertx,
            ScheduledExecutorService thread,
            Supplier<CompletableFuture<Boolean>> authentication,
            Authorizer<Principal.Token> tokens,
            Authorizer<Principal.Certificate> names,
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
        this.grants = new Grants(settings.maxAge(), clock);
        this.metrics = new PermissionMetrics(registry, this.authentication::state, grants::size);
    }

    /** Returns the permissions of {@code source}; sends no request until {@link #start}. */
    public static EnforcedPermissions of(
            Vertx vertx, EtcdCluster source, PermissionSettings settings, MeterRegistry registry) {
        SourceAuthorizer authorizer = new SourceAuthorizer(source, source::bareChannel);
        Authorizer<Principal.Certificate> names =
                settings.roles() ? new RoleAuthorizer(new SourceRoles(source, registry)) : new UnknownNames();
        return new EnforcedPermissions(
                vertx,
                source.thread(),
                authorizer::isEnforced,
                authorizer,
                names,
                settings,
                registry,
                System::nanoTime);
    }

    /** Starts polling the authentication state of the source. */
    public void start() {
        authentication.start(thread);
    }

    /** Reads the authentication state of the source now. Completes when that has ended, never exceptionally. */
    public CompletableFuture<Void> refresh() {
        return authentication.refresh();
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

    /** Why every check fails, if the authentication state is unknown. */
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
            return wanted == Permission.Standing.NONE ? PERMITTED : Future.failedFuture(ApiException.userNameEmpty());
        }
        PermissionRequest request = new PermissionRequest(principal, wanted);
        long now = clock.getAsLong();
        Grant grant = grants.covering(request, now);
        if (grant == null) {
            return later(submit(request).answer).compose(verdict -> {
                if (verdict instanceof Verdict.Refused refused) {
                    return Future.failedFuture(refused.why());
                }
                widen(request, MOST_GUESSES);
                return PERMITTED;
            });
        }
        if (grants.ageing(grant, now)) {
            renew(new PermissionRequest(principal, grant.permission()));
        }
        return PERMITTED;
    }

    /** Renews a grant without delaying the request. */
    private void renew(PermissionRequest request) {
        if (!underWay.containsKey(request)) {
            Check check = submit(request);
            whenDone(check.answer, (verdict, failure) -> {
                if (verdict instanceof Verdict.Granted && request.wanted() instanceof Permission.Read read) {
                    grants.renewed(request.principal(), read, check.sentNanos);
                }
            });
        }
    }

    /** Checks, without delaying the request, whether a wider range is permitted. */
    private void widen(PermissionRequest request, int guessesLeft) {
        if (!(request.wanted() instanceof Permission.Read read) || guessesLeft == 0) {
            return;
        }
        Permission.Read guess = grants.guess(request.principal(), read, clock.getAsLong());
        if (guess == null) {
            return;
        }
        PermissionRequest wider = new PermissionRequest(request.principal(), guess);
        Check check = submit(wider);
        whenDone(check.answer, (verdict, failure) -> {
            if (verdict == null) {
                grants.notGuessed(request.principal());
            } else if (verdict instanceof Verdict.Granted) {
                grants.guessedRight(request.principal(), guess, check.sentNanos);
                widen(wider, guessesLeft - 1);
            } else {
                grants.guessedWrong(request.principal(), guess, clock.getAsLong());
                widen(request, guessesLeft - 1);
            }
        });
    }

    /** A check under way, shared by all requests that wait for it. */
    private static final class Check {
        private final CompletableFuture<Verdict> answer = new CompletableFuture<>();
        private volatile long sentNanos;

        Check(long sentNanos) {
            this.sentNanos = sentNanos;
        }
    }

    private Check submit(PermissionRequest request) {
        Check check = new Check(clock.getAsLong());
        Check same = underWay.putIfAbsent(request, check);
        if (same != null) {
            return same;
        }
        whenDone(quota.take(request.principal(), !grants.hasRecentGrants(request.principal())), (slot, full) -> {
            if (slot == null) {
                underWay.remove(request);
                check.answer.completeExceptionally(full == null ? ApiException.tooManyRequests() : full);
            } else {
                check.sentNanos = clock.getAsLong();
                send(request, check, slot);
            }
        });
        return check;
    }

    private void send(PermissionRequest request, Check check, PermissionCheckQuota.Slot slot) {
        whenDone(authorize(request), (verdict, failure) -> {
            note(request, check, verdict);
            underWay.remove(request);
            slot.release();
            if (verdict == null) {
                check.answer.completeExceptionally(failure == null ? ApiException.timedOut() : failure);
            } else {
                check.answer.complete(verdict);
            }
        });
    }

    private void note(PermissionRequest request, Check check, @Nullable Verdict verdict) {
        Duration took = Duration.ofNanos(clock.getAsLong() - check.sentNanos);
        if (verdict == null) {
            metrics.unknown(took);
        } else if (verdict instanceof Verdict.Granted) {
            metrics.granted(took);
            grants.granted(request, check.sentNanos);
        } else {
            metrics.refused(took);
            grants.refused(request);
        }
    }

    private CompletableFuture<Verdict> authorize(PermissionRequest request) {
        try {
            return request.principal() instanceof Principal.Token token
                    ? tokens.authorize(token, request.wanted())
                    : names.authorize((Principal.Certificate) request.principal(), request.wanted());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Completes on the calling event loop. */
    private <T> Future<T> later(CompletableFuture<T> pending) {
        Context loop = vertx.getOrCreateContext();
        Promise<T> promise = Promise.promise();
        whenDone(
                pending,
                (result, failure) -> loop.runOnContext(now -> {
                    if (failure == null) {
                        promise.complete(result);
                    } else {
                        promise.fail(failure instanceof ApiException ? failure : ApiException.timedOut());
                    }
                }));
        return promise.future();
    }

    private static <T> void whenDone(
            CompletableFuture<T> pending, BiConsumer<? super @Nullable T, @Nullable Throwable> then) {
        var unused = pending.whenComplete(then);
    }

    /** Stops polling. */
    @Override
    public void close() {
        authentication.close();
    }

    /** Metrics of permission checks. Thread-safe. */
    private static final class PermissionMetrics {

        private final Timer granted;
        private final Timer refused;
        private final Timer unknown;

        PermissionMetrics(MeterRegistry registry, Supplier<Authentication.State> state, LongSupplier cached) {
            this.granted = checks(registry, "granted");
            this.refused = checks(registry, "refused");
            this.unknown = checks(registry, "unknown");
            // Gauges of the former source, after the primary has moved.
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

    /** Treats a client identified by certificate only as an unknown user. */
    static final class UnknownNames implements Authorizer<Principal.Certificate> {

        private static final Logger LOG = LoggerFactory.getLogger(UnknownNames.class);

        private final AtomicBoolean logged = new AtomicBoolean();

        @Override
        public CompletableFuture<Verdict> authorize(Principal.Certificate principal, Permission wanted) {
            if (wanted == Permission.Standing.NONE || wanted == Permission.Standing.USER) {
                return CompletableFuture.completedFuture(Verdict.GRANTED);
            }
            if (logged.compareAndSet(false, true)) {
                LOG.atWarn()
                        .addKeyValue("name", principal.commonName())
                        .log(
                                "rejected a client identified only by certificate (logged once); permissions.roles is false");
            }
            return CompletableFuture.completedFuture(new Verdict.Refused(ApiException.permissionDenied()));
        }
    }
}
