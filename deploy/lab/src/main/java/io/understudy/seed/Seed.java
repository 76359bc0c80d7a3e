package io.understudy.seed;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The member to make.
 *
 * @param directory its data directory, which must not exist
 * @param clientUrls where it listens for clients
 * @param bump by how much revisions are moved ahead
 */
public record Seed(Path directory, String member, List<URI> peerUrls, List<URI> clientUrls, String token, long bump) {

    public Seed {
        directory = directory.toAbsolutePath();
        if (bump < 1) {
            throw new IllegalArgumentException("the revision increase must be at least 1, not " + bump);
        }
    }

    /** Returns the parent of the data directory. */
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
                "--listen-client-urls=" + joined("", clientUrls),
                "--advertise-client-urls=" + joined("", clientUrls),
                "--listen-peer-urls=" + joined("", peerUrls),
                advertisePeerUrls(),
                initialCluster(),
                "--initial-cluster-token=" + token);
    }

    String advertisePeerUrls() {
        return "--initial-advertise-peer-urls=" + joined("", peerUrls);
    }

    String initialCluster() {
        return "--initial-cluster=" + joined(member + "=", peerUrls);
    }

    private static String joined(String prefix, List<URI> urls) {
        return urls.stream().map(url -> prefix + url).collect(Collectors.joining(","));
    }

    /** A data directory could not be made. The message states the cause, and what is left behind. */
    public static final class SeedException extends RuntimeException {

        SeedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
