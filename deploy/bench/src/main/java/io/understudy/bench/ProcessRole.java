package io.understudy.bench;

/** What a server process is there for. */
public enum ProcessRole {
    GATEWAY("gateway"),
    GRPC_PROXY("grpc-proxy"),
    LEARNER("learner"),
    VOTERS("voters");

    private final String title;

    ProcessRole(String title) {
        this.title = title;
    }

    @Override
    public String toString() {
        return title;
    }
}
