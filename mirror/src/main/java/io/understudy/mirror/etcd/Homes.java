package io.understudy.mirror.etcd;

import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps mirrors from writing keys into their primary cluster. Both clusters of a mirror hold a record of the keys'
 * primary, and each mirror reads its target's first.
 *
 * <p>The primary is the source; or, if another mirror copies all the keys there, that mirror's primary. After a move,
 * the mirror back writes into the former primary, even if other mirrors copy the keys from there: see {@link
 * Home#keepsOut}.
 *
 * <p>One thread.
 *
 * <p>Invariant M22: no mirror writes keys into their primary cluster, in opposite directions, in rings or after a
 * switchover.
 *
 * <p>Invariant M23: of two opposite mirrors started at the same time one runs; the other is rejected and leaves nothing
 * behind.
 */
final class Homes {

    private static final Logger LOG = LoggerFactory.getLogger(Homes.class);

    /** Maximum concurrent changes of the mirror's own records while it stores them. Two are its own. */
    private static final int CHANGES = 10;

    /** Interval of retries at a source that rejected puts. */
    private static final Duration RETRY_INTERVAL = Duration.ofMinutes(1);

    private final String mirror;
    private final MirrorScope scope;
    private final @Nullable HomeKeys atSource;
    private final HomeKeys atTarget;
    /** The record stored at both clusters, or the target alone; null before {@link #settle}. */
    private @Nullable Home settled;

    private boolean isStoredAtSource;
    private long settledAt;

    /** @param atSource null if the source is not an etcd cluster: no mirror writes back into it */
    Homes(String mirror, MirrorScope scope, @Nullable HomeKeys atSource, HomeKeys atTarget) {
        this.mirror = mirror;
        this.scope = scope;
        this.atSource = atSource;
        this.atTarget = atTarget;
    }

    /**
     * Verifies before the first write that the target is not the primary.
     *
     * @throws SinkException.Refused the target is the keys' primary
     */
    void requireElsewhere() {
        HomeKeys.Known here = atTarget.read();
        requireElsewhere(here.own() == null ? here.readable() : here, null);
    }

    /**
     * Stores the primary record at both clusters, once. A full or closed source stores it later.
     *
     * @throws SinkException.Refused the target is the keys' primary; new records are deleted again
     */
    void settle(ClusterId source) {
        HomeKeys sources = atSource;
        if (sources == null || isSettled(source)) {
            return;
        }
        Instant now = Instant.now();
        Home offered = null;
        boolean sourceTakes = true;
        long change = 0;
        HomeKeys.Known there = sources.read();
        HomeKeys.Known here = atTarget.read();
        for (int changes = 0; changes < CHANGES; ) {
            try {
                requireElsewhere(here, there.own());
                if (isRecorded(source, there, here)) {
                    LOG.atWarn()
                            .addKeyValue("mirror", mirror)
                            .addKeyValue("cause", reason(there, here))
                            .log("primary record of another mirror not readable; a switchover will be refused");
                    settled(Objects.requireNonNull(here.own()), true);
                    return;
                }
                requireNotBack(there.readable(), here.readable());
            } catch (SinkException.Refused e) {
                withdraw(offered);
                throw e;
            }
            Home home = home(source, there, here, now);
            boolean sourceAgrees = home.agreesWith(there.own());
            boolean targetAgrees = home.agreesWith(here.own());
            if (targetAgrees && (sourceAgrees || !sourceTakes)) {
                settled(home, sourceAgrees);
                return;
            }
            offered = home;
            // Two mirrors in opposite directions begin at the same cluster: there the later one finds the other.
            boolean writesToSource = !sourceAgrees
                    && sourceTakes
                    && (targetAgrees || there.cluster().value() < here.cluster().value());
            if (writesToSource) {
                HomeKeys.Known stored = sources.store(home, there);
                sourceTakes = stored != null;
                if (!sourceTakes) {
                    sources.continueWithoutPuts();
                }
                there = stored == null ? sources.read() : stored;
                here = atTarget.read();
            } else {
                HomeKeys.Known stored = atTarget.store(home, here);
                if (stored == null || !home.agreesWith(stored.own())) {
                    there = sources.read();
                }
                here = stored == null ? atTarget.read() : stored;
            }
            long ownRevisions = there.ownRevision() + here.ownRevision();
            changes += ownRevisions == change ? 0 : 1;
            change = ownRevisions;
        }
        throw new SinkException.Refused("primary of mirror " + mirror + " could not be stored at "
                + HomeKeys.shown(ReservedKeys.home(mirror)) + " of both clusters in " + CHANGES
                + " attempts, due to concurrent writes. Two mirrors with the same name are running, or a switchover is"
                + " in progress");
    }

    /**
     * Whether both clusters have this mirror's record already, but not all of other mirrors can be read, such as those of
     * a later version. These mirrors found it when they began.
     */
    private boolean isRecorded(ClusterId source, HomeKeys.Known there, HomeKeys.Known here) {
        Home own = here.own();
        return (there.unreadable() != null || here.unreadable() != null)
                && own != null
                && own.agreesWith(there.own())
                && own.source().equals(source)
                && own.target().equals(here.cluster())
                && own.scope().equals(scope);
    }

    private static @Nullable String reason(HomeKeys.Known there, HomeKeys.Known here) {
        SinkException.Refused unreadable = there.unreadable() == null ? here.unreadable() : there.unreadable();
        return unreadable == null ? null : unreadable.getMessage();
    }

    private boolean isSettled(ClusterId source) {
        Home home = settled;
        return home != null
                && home.source().equals(source)
                && (isStoredAtSource || System.nanoTime() - settledAt < RETRY_INTERVAL.toNanos());
    }

    private void settled(Home home, boolean storedAtSource) {
        settled = home;
        isStoredAtSource = storedAtSource;
        settledAt = System.nanoTime();
    }

    private void withdraw(@Nullable Home offered) {
        HomeKeys sources = atSource;
        if (offered != null && sources != null) {
            atTarget.withdraw(offered);
            sources.withdraw(offered);
        }
    }

    /** Returns the path of all source data, the mark of writes without a single commit. */
    List<ClusterId> path(ClusterId source) {
        Home home = settled;
        return home == null || home.cluster().equals(source) ? List.of(source) : List.of(home.cluster(), source);
    }

    /** Returns this mirror's record by the records of both clusters. */
    private Home home(ClusterId source, HomeKeys.Known there, HomeKeys.Known here, Instant now) {
        ClusterId from = there.others().stream()
                // The record of a retired mirror back names the target, which would move the role without a command.
                .filter(other -> other.target().equals(source)
                        && !other.source().equals(here.cluster())
                        && covers(other.scope().targetRanges()))
                .map(Home::cluster)
                .findFirst()
                .orElse(source);
        long moves = Stream.of(Optional.ofNullable(there.own()), Optional.ofNullable(here.own()))
                .flatMap(Optional::stream)
                .mapToLong(Home::moves)
                .max()
                .orElse(0);
        return new Home(mirror, from, source, here.cluster(), scope, moves, now);
    }

    private boolean covers(List<KeyRange> brought) {
        return scope.sourceRanges().stream()
                .allMatch(ours -> brought.stream().anyMatch(range -> contains(range, ours)));
    }

    private static boolean contains(KeyRange range, KeyRange part) {
        return range.intersects(part) && range.intersection(part).equals(part);
    }

    private void requireElsewhere(HomeKeys.Known here, @Nullable Home alsoOwn) {
        Optional<Home> own = Optional.ofNullable(newer(here.own(), alsoOwn));
        own.filter(home -> home.cluster().equals(here.cluster())).ifPresent(home -> {
            throw HomeKeys.moved(home);
        });
        for (Home other : here.others()) {
            if (other.keepsOut(here.cluster(), scope.targetRanges(), own.orElse(null), here.own() != null)
                    && !isRetired(other, own.orElse(null), here.cluster())) {
                throw opposite(other, here.cluster());
            }
        }
    }

    private static @Nullable Home newer(@Nullable Home one, @Nullable Home other) {
        return one == null || (other != null && other.moves() > one.moves()) ? other : one;
    }

    /** Whether the opposite mirror is inactive, and the primary was moved since its record. */
    private boolean isRetired(Home other, @Nullable Home own, ClusterId target) {
        HomeKeys sources = atSource;
        boolean isRetired =
                own != null && sources != null && own.isMovedPast(other, target) && !sources.isRun(other.mirror());
        if (isRetired) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("other", other.mirror())
                    .log("primary record of a retired opposite mirror ignored");
        }
        return isRetired;
    }

    /** Rejects an opposite mirror that is recorded only at the source so far. */
    private void requireNotBack(HomeKeys.Known there, HomeKeys.Known here) {
        for (Home other : there.others()) {
            boolean isBack = other.cluster().equals(here.cluster())
                    && other.target().equals(there.cluster())
                    && scope.sourceRanges().stream().anyMatch(ours -> other.rangesIn(there.cluster()).stream()
                            .anyMatch(ours::intersects));
            boolean isKnownHere = here.others().stream().map(Home::mirror).anyMatch(other.mirror()::equals);
            if (isBack && !isKnownHere && !isRetired(other, newer(there.own(), here.own()), here.cluster())) {
                throw opposite(other, here.cluster());
            }
        }
    }

    private SinkException opposite(Home other, ClusterId target) {
        return new SinkException.Refused("keys that mirror " + mirror + " would write, " + scope.shown()
                + ", have their primary in its target, cluster " + target + ": mirror " + other.mirror() + " copies "
                + other.scope().shown() + " from cluster " + other.source() + " to cluster " + other.target() + " ("
                + HomeKeys.shown(ReservedKeys.home(other.mirror())) + "). Mirror disjoint keys in opposite directions;"
                + " to change the direction of a mirror, use \"understudy mirror switchover\"; if mirror "
                + other.mirror() + " no longer exists, delete that key in both of its clusters");
    }
}
