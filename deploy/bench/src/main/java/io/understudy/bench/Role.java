package io.understudy.bench;

/** What a server process is there for. */
public enum Role {
    GATEWAY("gateway"),
    GRPC_PROXY("grpc-proxy"),
    LEARNER("learner"),
    VOTERS("voters");

    private final String title;

    Role(String title) {
        this.title = title;
    }

    @Override
    public String toString() {
        return title;
    }
}
