package io.understudy.mirror.lease;

/**
 * What keys' leases come to in the target. Asked by those who write there, on their threads, before they write; may
 * block on the target, and throw a {@link io.understudy.mirror.sink.SinkException}.
 */
public interface TargetLeases {

    /** Leaves all leases behind. */
    TargetLeases DROPPED = new TargetLeases() {
        @Override
        public boolean areKept() {
            return false;
        }

        @Override
        public long forPut(long sourceLease) {
            return 0;
        }
    };

    /** Whether keys are put with leases: such keys are neither joined with others nor put out of order. */
    boolean areKept();

    /**
     * The lease to put a key with; it exists when this returns.
     *
     * @param sourceLease the one it has at the source, 0 for none
     * @return 0 for none
     */
    long forPut(long sourceLease);
}
