package io.understudy.cluster.recover;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The member IDs of a Raft configuration. */
record Voting(Set<Long> voters, Set<Long> learners) {

    static final Voting NONE = new Voting(Set.of(), Set.of());

    Voting {
        voters = Set.copyOf(voters);
        learners = Set.copyOf(learners);
    }

    int quorum() {
        return voters.size() / 2 + 1;
    }

    Set<Long> all() {
        return Stream.concat(voters.stream(), learners.stream()).collect(Collectors.toSet());
    }

    Voting within(Set<Long> members) {
        return new Voting(
                voters.stream().filter(members::contains).collect(Collectors.toSet()),
                learners.stream().filter(members::contains).collect(Collectors.toSet()));
    }

    /** The configuration after an entry was applied. */
    Voting after(LogEntry entry) {
        Set<Long> newVoters = new HashSet<>(voters);
        Set<Long> newLearners = new HashSet<>(learners);
        for (LogEntry.Change change : entry.changes()) {
            switch (change.kind()) {
                case ADD_VOTER -> {
                    newVoters.add(change.member());
                    newLearners.remove(change.member());
                }
                case ADD_LEARNER -> {
                    newLearners.add(change.member());
                    newVoters.remove(change.member());
                }
                case REMOVE -> {
                    newVoters.remove(change.member());
                    newLearners.remove(change.member());
                }
                case UPDATE -> {
                    // URLs only.
                }
            }
        }
        return new Voting(newVoters, newLearners);
    }
}
