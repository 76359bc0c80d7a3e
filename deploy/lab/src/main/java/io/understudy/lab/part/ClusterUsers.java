package io.understudy.lab.part;

import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.vocabulary.KeyRange;
import java.util.List;

/**
 * The users of a cluster and their permissions.
 *
 * @param root the user that etcd requires for authentication
 * @param users all others
 */
public record ClusterUsers(Credentials root, List<User> users) {

    public ClusterUsers {
        users = List.copyOf(users);
    }

    /**
     * Keys that a user may read.
     *
     * @param write whether the user may write them, too
     */
    public record Grant(KeyRange keys, boolean write) {}

    /**
     * A user and its grants.
     *
     * @param isRoot whether it has the role root, which needs no grants
     */
    public record User(Credentials credentials, boolean isRoot, List<Grant> grants) {

        public User {
            grants = List.copyOf(grants);
        }

        public static User root(Credentials credentials) {
            return new User(credentials, true, List.of());
        }

        public static User of(Credentials credentials, Grant... grants) {
            return new User(credentials, false, List.of(grants));
        }
    }

    /**
     * Adds the users and enables authentication, unless it is enabled; resumes an interrupted attempt.
     *
     * @param cluster its first endpoint is a voter that reaches the quorum
     * @throws LabException a request was rejected, or had no response
     */
    public void enable(EtcdSettings cluster) {
        EtcdSettings nameless = cluster.withLogin(null);
        try (EtcdConnections connections = EtcdConnections.open(nameless)) {
            UserAdministration voter =
                    new UserAdministration(connections, nameless.seeds().get(0));
            if (!voter.isAuthenticationEnabled(root)) {
                voter.add(User.root(root));
                users.forEach(voter::add);
                voter.enableAuthentication();
            }
        }
    }
}
