package io.understudy.lab.part;

import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.vocabulary.KeyRange;
import java.util.List;

/**
 * Who may do what in a cluster.
 *
 * @param root without whom etcd doesn't ask who asks
 * @param users all others
 */
public record Authentication(Credentials root, List<User> users) {

    public Authentication {
        users = List.copyOf(users);
    }

    /**
     * Keys that a user may read.
     *
     * @param write whether he may write them, too
     */
    public record Grant(KeyRange keys, boolean write) {}

    /**
     * One of them.
     *
     * @param isRoot whether he may do everything, which needs no grants
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
     * Has the cluster ask who asks, once these users are there; does nothing if it does so already. Goes on where an earlier
     * attempt was interrupted.
     *
     * @param cluster its first endpoint is a voter that reaches the quorum
     * @throws LabException it refuses something, or does not answer
     */
    void enable(EtcdSettings cluster) {
        EtcdSettings nameless = cluster.withLogin(null);
        try (EtcdConnections connections = EtcdConnections.open(nameless)) {
            UserAdministration voter =
                    new UserAdministration(connections, nameless.seeds().get(0));
            if (!voter.asksWhoAsks(root)) {
                voter.add(User.root(root));
                users.forEach(voter::add);
                voter.askWhoAsks();
            }
        }
    }
}
