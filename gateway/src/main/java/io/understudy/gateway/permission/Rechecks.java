package io.understudy.gateway.permission;

import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.permission.Authorizer.PermissionRequest;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Rechecks the read permissions of open watches periodically. Watches of the same range by the same principal share one
 * check. Confined to one event loop.
 *
 * <p>Invariant P1b: a watch is cancelled when its user loses the permission to read its range.
 *
 * <p>A JWT shows no revocation, as any change of users or roles outdates it. Its watches end within a minute.
 */
public final class Rechecks {

    private static final long TICK_MILLIS = 250;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Concurrent checks that are not answered from the cache; others are queued. */
    static final int MOST_UNDER_WAY = 500;

    /** Concurrent checks of one principal, so that its watches do not delay those of others. */
    static final int MOST_OF_ONE = 200;

    /** Maximum age of a confirmed permission; then events are held back. */
    private static final long MOST_AGE_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Age of a check after which the next one does not wait for a tick: those of a tick may be too few for all. */
    private static final long LATE_NANOS = MOST_AGE_NANOS / 2;

    /** How long a permission may be unconfirmed; then the watch is canceled. */
    private static final long MOST_DOUBT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * Maximum time until watches with an outdated JWT end. One change of any user outdates all JWTs, and clients that
     * resume log in again, at the leader.
     */
    private static final long SPREAD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ContextInternal context;
    private final ReadPermissions permissions;
    private final Counter revocations;
    private final LongSupplier spread;
    private final Map<PermissionRequest, Group> groups = new HashMap<>();
    private final Map<Principal, Watching> principals = new HashMap<>();
    /** All principals, round robin. */
    private final Queue<Watching> turns = new ArrayDeque<>();

    private int underWay;
    private @Nullable ScheduledFuture<?> ticker;

    /** A watch with a rechecked permission. Called on the event loop. */
    public interface Listener {

        /** The permission is confirmed again: events {@linkplain Permit#isInDoubt held back} can be delivered. */
        void settled();

        /**
         * The permission is revoked, or was unconfirmed for too long, which is {@code UNAVAILABLE}. Called once; the
         * permit has ended.
         */
        void revoked(ApiException why);
    }

    /**
     * Creates an instance for the calling event loop.
     *
     * @param revocations counts canceled watches
     */
    public Rechecks(ReadPermissions permissions, Counter revocations) {
        this(permissions, revocations, () -> ThreadLocalRandom.current().nextLong(SPREAD_NANOS));
    }

    /** @param spread nanoseconds until the watches of one outdated JWT end */
    Rechecks(ReadPermissions permissions, Counter revocations, LongSupplier spread) {
        this.spread = spread;
        this.context = Objects.requireNonNull(ContextInternal.current(), "not on an event loop");
        this.permissions = permissions;
        this.revocations = revocations;
    }

    /** Counts watches that were canceled because the permission was revoked. */
    public static Counter revocations(MeterRegistry registry) {
        return GatewayMeter.PERMISSIONS_REVOCATIONS.counter().register(registry);
    }

    /** Starts rechecking a permission that was just granted. */
    public Permit begin(Principal principal, Permission.Read read, Listener listener) {
        Group group = groups.computeIfAbsent(new PermissionRequest(principal, read), this::added);
        Permit permit = new Permit(group, listener);
        group.permits.add(permit);
        if (ticker == null) {
            // The check completes on the calling context.
            ticker = context.nettyEventLoop()
                    .scheduleAtFixedRate(
                            () -> context.runOnContext(now -> tick()), TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
        return permit;
    }

    private Group added(PermissionRequest request) {
        Watching watching = principals.computeIfAbsent(request.principal(), principal -> {
            Watching added = new Watching(principal);
            turns.add(added);
            return added;
        });
        Group added = new Group(request, watching);
        watching.order.add(added);
        return added;
    }

    private void tick() {
        long now = System.nanoTime();
        groups.values().forEach(group -> group.inDoubt |= now - group.confirmedNanos >= MOST_AGE_NANOS);
        // One check per principal in turn, until none is due.
        for (int idle = 0; idle < turns.size() && underWay < MOST_UNDER_WAY; ) {
            Watching next = turns.remove();
            if (next.order.isEmpty() && next.underWay == 0) {
                principals.remove(next.principal);
                continue;
            }
            turns.add(next);
            Group due = next.due(now, PAUSE_NANOS);
            if (due == null) {
                idle++;
            } else {
                idle = 0;
                check(due, now);
            }
        }
    }

    private void check(Group group, long nowNanos) {
        Future<Void> answer = permissions.check(group.request.principal(), group.request.wanted());
        if (answer.succeeded()) {
            granted(group, nowNanos);
            return;
        }
        if (answer.failed()) {
            // Without the next check, which would be within this one.
            refused(group, answer.cause());
            return;
        }
        group.checking = true;
        group.watching.underWay++;
        underWay++;
        answer.onComplete(
                permitted -> {
                    answered(group);
                    granted(group, nowNanos);
                },
                why -> {
                    answered(group);
                    refused(group, why);
                });
    }

    private void answered(Group group) {
        group.checking = false;
        group.watching.underWay--;
        underWay--;
        long now = System.nanoTime();
        // Ticks, which serve all principals in turn, have the other half.
        while (underWay < MOST_UNDER_WAY / 2) {
            Group late = group.watching.due(now, LATE_NANOS);
            Watching next = late == null ? turns.poll() : null;
            if (next != null) {
                turns.add(next);
                late = next.due(now, LATE_NANOS);
            }
            if (late == null) {
                return;
            }
            check(late, now);
        }
    }

    private static void granted(Group group, long nowNanos) {
        group.watching.endNanos = null;
        settled(group, nowNanos);
    }

    private static void settled(Group group, long nowNanos) {
        group.confirmedNanos = nowNanos;
        if (group.inDoubt) {
            group.inDoubt = false;
            List.copyOf(group.permits).forEach(permit -> permit.listener.settled());
        }
    }

    private void refused(Group group, Throwable why) {
        ApiException refusal = why instanceof ApiException known ? known : ApiException.timedOut();
        switch (refusal.code()) {
            case UNAVAILABLE, RESOURCE_EXHAUSTED -> {
                // A full queue here is no evidence about the permission.
                group.inDoubt |= refusal.code() == Status.Code.UNAVAILABLE;
                if (System.nanoTime() - group.confirmedNanos >= MOST_DOUBT_NANOS) {
                    revoke(group, ApiException.timedOut());
                }
            }
            default -> {
                long now = System.nanoTime();
                if (isOutdated(group.watching.principal, refusal) && now - endOf(group.watching, now) < 0) {
                    settled(group, now);
                } else {
                    revoke(group, refusal);
                }
            }
        }
    }

    /** Whether a token proves nothing any more. A simple token becomes invalid by a revocation, a JWT by its age. */
    private static boolean isOutdated(Principal principal, ApiException refusal) {
        EtcdError error = EtcdErrors.error(refusal.text());
        return principal instanceof Principal.Token token
                && token.isJwt()
                && (error == EtcdError.OLD_AUTH_REVISION || error == EtcdError.INVALID_TOKEN);
    }

    private long endOf(Watching watching, long nowNanos) {
        if (watching.endNanos == null) {
            watching.endNanos = nowNanos + spread.getAsLong();
        }
        return watching.endNanos;
    }

    private void revoke(Group group, ApiException why) {
        for (Permit permit : new ArrayList<>(group.permits)) {
            if (group.permits.contains(permit)) {
                permit.end();
                revocations.increment();
                permit.listener.revoked(why);
            }
        }
    }

    private void ended(Group group) {
        if (group.permits.isEmpty()) {
            groups.remove(group.request, group);
            if (groups.isEmpty() && ticker != null) {
                ticker.cancel(false);
                ticker = null;
                principals.clear();
                turns.clear();
            }
        }
    }

    /** The permission of one watch. */
    public final class Permit {
        private final Group group;
        private final Listener listener;

        private Permit(Group group, Listener listener) {
            this.group = group;
            this.listener = listener;
        }

        /** Whether the permission was not confirmed recently: events must be held back. */
        public boolean isInDoubt() {
            return group.inDoubt;
        }

        /** Ends the rechecks. Idempotent. */
        public void end() {
            if (group.permits.remove(this)) {
                ended(group);
            }
        }
    }

    /** The watches of one principal. */
    private static final class Watching {
        private final Principal principal;
        /** Least recently checked first. */
        private final Queue<Group> order = new ArrayDeque<>(2);

        private int underWay;
        /** When its watches end, as its token is outdated. */
        private @Nullable Long endNanos;

        Watching(Principal principal) {
            this.principal = principal;
        }

        /** Returns the next group to check after a pause. Null if none is due or enough checks are under way. */
        @Nullable Group due(long nowNanos, long pauseNanos) {
            while (underWay < MOST_OF_ONE
                    && !order.isEmpty()
                    && nowNanos - order.element().checkedNanos >= pauseNanos) {
                Group next = order.remove();
                if (!next.permits.isEmpty()) {
                    next.checkedNanos = nowNanos;
                    order.add(next);
                    if (!next.checking) {
                        return next;
                    }
                }
            }
            return null;
        }
    }

    /** All watches of one range by one principal. */
    private static final class Group {
        private final PermissionRequest request;
        private final Watching watching;
        private final Set<Permit> permits = new LinkedHashSet<>(2);
        private long checkedNanos = System.nanoTime();
        private long confirmedNanos = checkedNanos;
        private boolean checking;
        private boolean inDoubt;

        Group(PermissionRequest request, Watching watching) {
            this.request = request;
            this.watching = watching;
        }
    }
}
