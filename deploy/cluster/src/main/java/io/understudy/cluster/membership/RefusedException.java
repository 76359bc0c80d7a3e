package io.understudy.cluster.membership;

/** etcd rejected a change, without any effect. */
public final class RefusedException extends Exception {
    private final String etcdMessage;

    /**
     * @param etcdMessage the unchanged message
     * @param explanation what it means and what to do
     */
    public RefusedException(String etcdMessage, String explanation) {
        super(etcdMessage + ": " + explanation);
        this.etcdMessage = etcdMessage;
    }

    /** Word for word, such as {@code etcdserver: unhealthy cluster}. */
    public String etcdMessage() {
        return etcdMessage;
    }
}
