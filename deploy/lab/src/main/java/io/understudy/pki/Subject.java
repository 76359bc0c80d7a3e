package io.understudy.pki;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The subject of a certificate, with its names and uses.
 *
 * @param commonName the user that etcd takes its holder for; null for an empty subject
 * @param hosts names and addresses of the holder, by which clients verify a server
 * @param uses at least one
 * @param validity at least a minute
 */
public record Subject(@Nullable String commonName, List<String> hosts, Set<Use> uses, Duration validity) {

    /** The permitted use of a certificate. */
    public enum Use {
        /** Accept connections. */
        SERVER,
        /** Make connections. */
        CLIENT;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Without a colon, or an IPv6 address. */
    private static final Pattern HOST = Pattern.compile("[^:/\\s]+|[0-9a-fA-F:.]+");

    public Subject {
        hosts = List.copyOf(hosts);
        for (String host : hosts) {
            if (!HOST.matcher(host).matches()) {
                throw new IllegalArgumentException(
                        "host is '" + host + "'; allowed: a DNS name or an IP address, without scheme and port");
            }
        }
        uses = Set.copyOf(uses);
        if (uses.isEmpty()) {
            throw new IllegalArgumentException("no certificate usage; specify server, client or both");
        }
        if (commonName != null && commonName.isBlank()) {
            throw new IllegalArgumentException("the common name is blank; omit it for an empty subject");
        }
        if (hosts.isEmpty() && uses.contains(Use.SERVER)) {
            throw new IllegalArgumentException("a server certificate requires a host (DNS name or IP address)");
        }
        if (hosts.isEmpty() && commonName == null) {
            throw new IllegalArgumentException("a certificate requires a common name or a host");
        }
        if (validity.toMinutes() < 1) {
            throw new IllegalArgumentException(
                    "the validity is " + validity.toMinutes() + " min; it must be at least 1 min");
        }
    }
}
