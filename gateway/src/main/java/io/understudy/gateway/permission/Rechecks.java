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
 * Asks again and again whether what somebody is being told may still be read by him: watches last, permissions don't. Who
 * watches the same in the same name is asked about once. On one event loop, on which alone it is used.
 *
 * <p>Invariant P1b: a watch is cancelled when its user loses the permission to read its range.
 */
public final class Rechecks {

    private static final long TICK_MILLIS = 250;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Of questions that are not answered from what was granted lately; so 2,000 a second, and more wait for their turn. */
    static final int MOST_UNDER_WAY = 500;

    /** So that who watches a lot doesn't keep others waiting. */
    static final int MOST_OF_ONE = 200;

    /** How old it may be that somebody may read what he is told, whoever is to blame for that. */
    private static final long MOST_AGE_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** How long nobody may have been able to tell. */
    private static final long MOST_DOUBT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ContextInternal context;
    private final ReadPermissions permissions;
    private final Counter revocations;
    private final Map<Asked, Group> groups = new HashMap<>();
    private final Map<Principal, Watching> principals = new HashMap<>();
    /** Of all principals, in turn. */
    private final Queue<Watching> turns = new ArrayDeque<>();

    private int underWay;
    private @Nullable ScheduledFuture<?> ticker;

    /** Somebody who is told what he may read. Called on the loop. */
    public interface Listener {

        /** It is known again that he may: what was {@linkplain Permit#isInDoubt held back} can be told. */
        void settled();

        /**
         * He may not any more, or nobody could tell for too long, which is {@code UNAVAILABLE}. Told once; the permit is
         * ended.
         */
        void revoked(ApiException why);
    }

    /**
     * Of the event loop that this is called on.
     *
     * @param revocations counts who was told that he may not any more
     */
    public Rechecks(ReadPermissions permissions, Counter revocations) {
        this.context = Objects.requireNonNull(ContextInternal.current(), "not on an event loop");
        this.permissions = permissions;
        this.revocations = revocations;
    }

    /** Counts watchers that were ended, since they may not read any more. */
    public static Counter revocations(MeterRegistry registry) {
        return GatewayMeter.PERMISSIONS_REVOCATIONS.counter().register(registry);
    }

    /** Begins to ask, having just been told that it is permitted. */
    public Permit begin(Principal principal, Permission.Read read, Listener listener) {
        Group group = groups.computeIfAbsent(new Asked(principal, read), this::added);
        Permit permit = new Permit(group, listener);
        group.permits.add(permit);
        if (ticker == null) {
            // Permissions answer on the context that they are asked on.
            ticker = context.nettyEventLoop()
                    .scheduleAtFixedRate(
                            () -> context.runOnContext(now -> tick()), TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
        return permit;
    }

    private Group added(Asked asked) {
        Watching watching = principals.computeIfAbsent(asked.principal(), principal -> {
            Watching added = new Watching(principal);
            turns.add(added);
            return added;
        });
        Group added = new Group(asked, watching);
        watching.order.add(added);
        return added;
    }

    private void tick() {
        long now = System.nanoTime();
        groups.values().forEach(group -> group.inDoubt |= now - group.knownNanos >= MOST_AGE_NANOS);
        // One of each principal at a time, until nobody has any that is due.
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
                ask(due, now);
            }
        }
    }

    private void ask(Group group, long nowNanos) {
        Future<Void> answer = permissions.check(group.asked.principal(), group.asked.wanted());
        if (answer.succeeded()) {
            settled(group, nowNanos);
            return;
        }
        group.asking = true;
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
        group.asking = false;
        group.watching.underWay--;
        underWay--;
    }

    private static void settled(Group group, long nowNanos) {
        group.knownNanos = nowNanos;
        if (group.inDoubt) {
            group.inDoubt = false;
            List.copyOf(group.permits).forEach(permit -> permit.listener.settled());
        }
    }

    private void refused(Group group, Throwable why) {
        ApiException refusal = why instanceof ApiException known ? known : ApiException.timedOut();
        switch (refusal.code()) {
            case UNAVAILABLE, RESOURCE_EXHAUSTED -> {
                // It is no doubt of the source's that there was no room for the question.
                group.inDoubt |= refusal.code() == Status.Code.UNAVAILABLE;
                if (System.nanoTime() - group.knownNanos >= MOST_DOUBT_NANOS) {
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
            groups.remove(group.asked, group);
            if (groups.isEmpty() && ticker != null) {
                ticker.cancel(false);
                ticker = null;
                principals.clear();
                turns.clear();
            }
        }
    }

    /** That somebody may be told of something. */
    public final class Permit {
        private final Group group;
        private final Listener listener;

        private Permit(Group group, Listener listener) {
            this.group = group;
            this.listener = listener;
        }

        /** Whether nobody could tell when it was last asked, or that was long ago: nothing is to be told meanwhile. */
        public boolean isInDoubt() {
            return group.inDoubt;
        }

        /** Asks no more. Idempotent. */
        public void end() {
            if (group.permits.remove(this)) {
                ended(group);
            }
        }
    }

    /** What is told in one name. */
    private static final class Watching {
        private final Principal principal;
        /** Those first that were asked about longest ago. */
        private final Queue<Group> order = new ArrayDeque<>(2);

        private int underWay;

        Watching(Principal principal) {
            this.principal = principal;
        }

        /** What to ask about next; null if nothing is due, or enough under way. */
        @Nullable Group due(long nowNanos) {
            while (underWay < MOST_OF_ONE && !order.isEmpty() && nowNanos - order.element().askedNanos >= PAUSE_NANOS) {
                Group next = order.remove();
                if (!next.permits.isEmpty()) {
                    next.askedNanos = nowNanos;
                    order.add(next);
                    if (!next.asking) {
                        return next;
                    }
                }
            }
            return null;
        }
    }

    /** All who are told the same in the same name. */
    private static final class Group {
        private final Asked asked;
        private final Watching watching;
        private final Set<Permit> permits = new LinkedHashSet<>(2);
        private long askedNanos = System.nanoTime();
        private long knownNanos = askedNanos;
        private boolean asking;
        private boolean inDoubt;

        Group(Asked asked, Watching watching) {
            this.asked = asked;
            this.watching = watching;
        }
    }
}
