package io.understudy.gateway.permission;

import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.concurrent.ScheduledFuture;
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
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Rechecks the read permissions of open watches periodically. Watches of the same range by the same principal share one
 * check. Confined to one event loop.
 *
 * <p>Invariant P1b: a watch is cancelled when its user loses the permission to read its range.
 */
public final class Rechecks {

    private static final long TICK_MILLIS = 250;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Concurrent checks that are not answered from the cache: 2,000 a second; others are queued. */
    static final int MOST_UNDER_WAY = 500;

    /** Concurrent checks of one principal, so that its watches do not delay those of others. */
    static final int MOST_OF_ONE = 200;

    /** Maximum age of a confirmed permission; then events are held back. */
    private static final long MOST_AGE_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** How long a permission may be unconfirmed; then the watch is canceled. */
    private static final long MOST_DOUBT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ContextInternal context;
    private final ReadPermissions permissions;
    private final Counter revocations;
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
            Group due = next.due(now);
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
            settled(group, nowNanos);
            return;
        }
        group.checking = true;
        group.watching.underWay++;
        underWay++;
        answer.onComplete(
                permitted -> {
                    answered(group);
                    settled(group, nowNanos);
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
            default -> revoke(group, refusal);
        }
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

        Watching(Principal principal) {
            this.principal = principal;
        }

        /** Returns the next group to check. Null if none is due or enough checks are under way. */
        @Nullable Group due(long nowNanos) {
            while (underWay < MOST_OF_ONE
                    && !order.isEmpty()
                    && nowNanos - order.element().checkedNanos >= PAUSE_NANOS) {
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
