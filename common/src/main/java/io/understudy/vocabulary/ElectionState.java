package io.understudy.vocabulary;

/** State of one process in an election among several, as that process reports it. */
public sealed interface ElectionState {

    /** This process is elected. */
    record Active() implements ElectionState {
        @Override
        public String toString() {
            return "active";
        }
    }

    /**
     * Another process is elected.
     *
     * @param holder its name
     */
    record Standby(String holder) implements ElectionState {
        @Override
        public String toString() {
            return "standby to " + holder;
        }
    }

    /** No election has been read yet. */
    record Undecided() implements ElectionState {
        @Override
        public String toString() {
            return "undecided";
        }
    }

    /** The cluster has not responded for so long that another process may be elected. */
    record Unknown(String why) implements ElectionState {
        @Override
        public String toString() {
            return "unknown: " + why;
        }
    }

    /** The cluster rejects the requests of this process; an operator is needed. */
    record Refused(String why) implements ElectionState {
        @Override
        public String toString() {
            return "refused: " + why;
        }
    }
}
