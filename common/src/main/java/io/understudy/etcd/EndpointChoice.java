package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Orders endpoints by how well they suit a duty.
 *
 * <p>Endpoints that cost the voters least come first, the leader last, except for writes: a follower would only forward
 * them to the leader, at the same cost and one more hop, and a gateway to a voter, if it forwards them at all.
 * Endpoints in doubt come after healthy ones, whatever their role. Once members are known, endpoints that lead to none
 * of them come last. Those that can't serve a duty are left out.
 *
 * <p>Invariant E1: a learner is never watched or written to, and a gateway is never written to, whatever fails.
 *
 * <p>Invariant E2: endpoints that cost the voters least come first; failing or silent ones come last until they
 * recover.
 *
 * @param spread decides between equals, so that not every process leans on the same follower
 */
record EndpointChoice(int spread) {

    /** Better first. */
    private enum Standing {
        GOOD,
        UNKNOWN,
        FAILED_LATELY,
        UNREACHABLE
    }

    /** Rank after every known member. */
    private static final int UNIDENTIFIED_RANK = 9;

    private static final Comparator<Candidate> BEST_FIRST = Comparator.comparing(Candidate::standing)
            .thenComparingInt(Candidate::rank)
            .thenComparingInt(Candidate::position)
            .thenComparingInt(Candidate::tie);

    /** @param position among the addresses of its member */
    private record Candidate(Endpoint endpoint, Standing standing, int rank, int position, int tie) {}

    List<Endpoint> order(ClusterView view, Duty duty, Setbacks setbacks, Instant now) {
        List<Candidate> candidates = new ArrayList<>();
        for (Member member : view.members()) {
            OptionalInt rank = rank(duty, member, member.id().equals(view.leaderId()));
            if (rank.isPresent()) {
                int tie = mixed(member.id());
                for (int i = 0; i < member.addresses().size(); i++) {
                    Member.Address address = member.addresses().get(i);
                    if (serves(duty, member, address)) {
                        Standing standing = standing(duty, address, setbacks, now);
                        candidates.add(new Candidate(address.endpoint(), standing, rank.getAsInt(), i, tie));
                    }
                }
            }
        }
        for (int i = 0; i < view.unidentified().size(); i++) {
            Endpoint seed = view.unidentified().get(i);
            boolean heldBack = setbacks.holdsBack(seed, duty, now);
            Standing standing = heldBack ? Standing.FAILED_LATELY : Standing.UNKNOWN;
            if (!view.members().isEmpty()) {
                // Perhaps a removed member's: why those that are left don't serve is what matters then.
                standing = Standing.UNREACHABLE;
            }
            candidates.add(new Candidate(seed, standing, UNIDENTIFIED_RANK + (heldBack ? 1 : 0), i, 0));
        }
        candidates.sort(BEST_FIRST);
        Set<Endpoint> ordered = new LinkedHashSet<>();
        for (Candidate candidate : candidates) {
            ordered.add(candidate.endpoint());
        }
        return List.copyOf(ordered);
    }

    /** Lower is better; empty for a role that can't serve the duty. */
    private static OptionalInt rank(Duty duty, Member member, boolean leads) {
        int voter = leads ? 1 : 0;
        return switch (duty) {
            case SNAPSHOT, READ_INDEX ->
                switch (member.role()) {
                    case LEARNER -> OptionalInt.of(0);
                    case GATEWAY -> OptionalInt.of(1);
                    case VOTER -> OptionalInt.of(2 + voter);
                };
            case WATCH ->
                switch (member.role()) {
                    case LEARNER -> OptionalInt.empty();
                    case GATEWAY -> OptionalInt.of(1);
                    case VOTER -> OptionalInt.of(2 + voter);
                };
            case WRITE ->
                switch (member.role()) {
                    case LEARNER -> OptionalInt.empty();
                    case VOTER -> OptionalInt.of(1 - voter);
                    case GATEWAY -> OptionalInt.of(2);
                };
        };
    }

    /** Whether the address serves the duty; a learner's read index requires more of it. */
    private static boolean serves(Duty duty, Member member, Member.Address address) {
        return duty != Duty.READ_INDEX
                || member.role() != Role.LEARNER
                || (address.exclusive() && member.version().learnerReadIndexOverHttp());
    }

    private static Standing standing(Duty duty, Member.Address address, Setbacks setbacks, Instant now) {
        if (address.health() == Health.UNREACHABLE) {
            return Standing.UNREACHABLE;
        }
        boolean leaderMissed = address.health() == Health.LEADERLESS && duty != Duty.SNAPSHOT;
        if (leaderMissed || setbacks.holdsBack(address.endpoint(), duty, now)) {
            return Standing.FAILED_LATELY;
        }
        return address.health() == Health.UNKNOWN ? Standing.UNKNOWN : Standing.GOOD;
    }

    private int mixed(MemberId id) {
        int hash = (Long.hashCode(id.value()) ^ spread) * 0x9E3779B9;
        return hash >>> 1;
    }

    /**
     * Recent failures by endpoint and duty. Immutable.
     *
     * <p>The first failure puts an endpoint back for {@link #FIRST_PAUSE}, each further one in a row for twice as long, up
     * to {@link #LONGEST_PAUSE}; a success clears them.
     */
    record Setbacks(Map<Attempt, Setback> recent) {

        static final Setbacks NONE = new Setbacks(Map.of());
        static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
        static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

        /** Time after the pause that ends a series of failures, if there is no other. */
        private static final Duration MEMORY = Duration.ofMinutes(1);

        record Attempt(Endpoint endpoint, Duty duty) {}

        /** @param inARow at least one */
        record Setback(int inARow, Instant until) {}

        Setbacks {
            recent = Map.copyOf(recent);
        }

        boolean holdsBack(Endpoint endpoint, Duty duty, Instant now) {
            Setback setback = recent.get(new Attempt(endpoint, duty));
            return setback != null && now.isBefore(setback.until());
        }

        Setbacks failed(Endpoint endpoint, Duty duty, Instant now) {
            Map<Attempt, Setback> next = new HashMap<>(recent);
            next.values().removeIf(old -> old.until().plus(MEMORY).isBefore(now));
            next.compute(new Attempt(endpoint, duty), (attempt, old) -> {
                int inARow = old == null ? 1 : old.inARow() + 1;
                return new Setback(inARow, now.plus(pause(inARow)));
            });
            return new Setbacks(next);
        }

        Setbacks succeeded(Endpoint endpoint, Duty duty) {
            Attempt attempt = new Attempt(endpoint, duty);
            if (!recent.containsKey(attempt)) {
                return this;
            }
            Map<Attempt, Setback> next = new HashMap<>(recent);
            next.remove(attempt);
            return new Setbacks(next);
        }

        /** Clears all failures of an endpoint that responds again after an outage. */
        Setbacks forgive(Endpoint endpoint) {
            Map<Attempt, Setback> next = new HashMap<>(recent);
            boolean changed =
                    next.keySet().removeIf(attempt -> attempt.endpoint().equals(endpoint));
            return changed ? new Setbacks(next) : this;
        }

        private static Duration pause(int inARow) {
            Duration doubled = FIRST_PAUSE.multipliedBy(1L << Math.min(inARow - 1, 10));
            return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
        }
    }
}
