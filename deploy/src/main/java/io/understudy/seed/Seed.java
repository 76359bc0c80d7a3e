package io.understudy.seed;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * The member to make.
 *
 * @param directory its data directory, which must not exist
 * @param clientUrl where it shall listen for clients
 * @param bump by how much revisions are moved ahead
 */
public record Seed(Path directory, String member, URI peerUrl, URI clientUrl, String token, long bump) {

    public Seed {
        directory = directory.toAbsolutePath();
        if (bump < 1) {
            throw new IllegalArgumentException("the revision increase must be at least 1, not " + bump);
        }
    }

    /** Where the data directory is. */
    Path folder() {
        Path parent = directory.getParent();
        if (parent == null) {
            throw new SeedException("cannot create " + directory, null);
        }
        return parent;
    }

    /** The command that starts it, the program first. */
    public List<String> startCommand(Path etcd) {
        return List.of(
                etcd.toString(),
                "--name=" + member,
                "--data-dir=" + directory,
                "--listen-client-urls=" + clientUrl,
                "--advertise-client-urls=" + clientUrl,
                "--listen-peer-urls=" + peerUrl,
                "--initial-advertise-peer-urls=" + peerUrl,
                "--initial-cluster=" + member + "=" + peerUrl,
                "--initial-cluster-token=" + token);
    }
}
