package io.understudy.cluster.supervise.elect;

/** Not all supervisors of a cluster could be told, or confirmed it. */
public final class UntoldException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isInCluster;

    UntoldException(String message, boolean isInCluster) {
        super(message);
        this.isInCluster = isInCluster;
    }

    /** Whether it stands in the cluster, so that all will know of it before their next step. */
    public boolean isInCluster() {
        return isInCluster;
    }
}
