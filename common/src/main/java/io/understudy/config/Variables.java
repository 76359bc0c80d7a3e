package io.understudy.config;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The correspondence of keys and environment variables. */
final class Variables {

    static final String PREFIX = "UNDERSTUDY_";

    /** Read by the launcher and by the search for etcd, not settings of a process. */
    private static final Set<String> RESERVED = Set.of(
            "UNDERSTUDY_HOME",
            "UNDERSTUDY_CONFIG",
            "UNDERSTUDY_JAVA_OPTS",
            "UNDERSTUDY_LOG_LEVEL",
            "UNDERSTUDY_LOG_FORMAT");

    /** Read by commands; a setting of gateways has one of these names too. */
    static final Set<String> OF_COMMANDS = Set.of("UNDERSTUDY_SOURCE_USER", "UNDERSTUDY_TARGET_USER");

    /** Kubernetes describes each service of a namespace by such variables, named after the service. */
    private static final Pattern SERVICE_LINK =
            Pattern.compile(".*_SERVICE_(HOST|PORT(_.*)?)|.*_PORT_\\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?");

    private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");
    private static final Pattern HUMP = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])");

    private Variables() {}

    /** {@code feed.stallTimeout} is {@code UNDERSTUDY_FEED_STALL_TIMEOUT}. */
    static String name(String key) {
        return PREFIX + segment(key);
    }

    /** A key, or a part of one, as written in a variable. */
    static String segment(String key) {
        return HUMP.matcher(key)
                .replaceAll("_")
                .replace('.', '_')
                .replace('-', '_')
                .toUpperCase(Locale.ROOT);
    }

    /** Whether a variable is meant as a setting. */
    static boolean isSetting(String variable, String value) {
        return variable.startsWith(PREFIX)
                && !RESERVED.contains(variable)
                && !variable.startsWith("UNDERSTUDY_ETCD")
                && !SERVICE_LINK.matcher(variable).matches()
                && !SERVICE_URL.matcher(value).matches();
    }
}
