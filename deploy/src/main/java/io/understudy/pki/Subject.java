package io.understudy.pki;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whom a certificate is for.
 *
 * @param commonName whom etcd takes its holder for; null for an empty subject, whose holder is nobody in particular
 * @param hosts names and addresses of the holder, by which clients verify a server
 * @param uses at least one
 * @param validity at least a minute
 */
public record Subject(@Nullable String commonName, List<String> hosts, Set<Use> uses, Duration validity) {

    /** What the holder may do with it. */
    public enum Use {
        /** Accept connections. */
        SERVER,
        /** Make connections. */
        CLIENT
    }

    public Subject {
        hosts = List.copyOf(hosts);
        uses = Set.copyOf(uses);
        if (uses.isEmpty()) {
            throw new IllegalArgumentException("a certificate for nothing; it must be for server, client or both");
        }
        if (commonName != null && commonName.isBlank()) {
            throw new IllegalArgumentException("the common name is blank; leave it out for an empty subject");
        }
        if (hosts.isEmpty() && uses.contains(Use.SERVER)) {
            throw new IllegalArgumentException(
                    "a server's certificate needs a host, by which clients verify it: a name or an address");
        }
        if (hosts.isEmpty() && commonName == null) {
            throw new IllegalArgumentException("neither a common name nor a host: a certificate needs one of them");
        }
        if (validity.toMinutes() < 1) {
            throw new IllegalArgumentException("the validity is " + validity + "; at least a minute is needed");
        }
    }
}
