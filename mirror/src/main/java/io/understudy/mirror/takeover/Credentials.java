package io.understudy.mirror.takeover;

/** A user of a cluster with authentication by name and password. */
public record Credentials(String user, String password) {

    /** Without the password. */
    @Override
    public String toString() {
        return "user " + user;
    }
}
