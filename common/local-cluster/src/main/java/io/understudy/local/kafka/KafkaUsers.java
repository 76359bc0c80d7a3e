package io.understudy.local.kafka;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Users of a broker with SASL/PLAIN, authorized by the broker's ACLs.
 *
 * @param administrator has all rights; one of the names
 * @param passwords by name
 */
public record KafkaUsers(String administrator, Map<String, String> passwords) {

    static final String PROTOCOL = "SASL_PLAINTEXT";

    private static final String LOGIN =
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\"";

    /** Checks that the administrator has a password. */
    public KafkaUsers {
        passwords = Map.copyOf(passwords);
        if (!passwords.containsKey(administrator)) {
            throw new IllegalArgumentException("administrator " + administrator + " has no password");
        }
    }

    /** Client properties for a login as {@code name}. */
    public Map<String, String> client(String name) {
        return Map.of(
                "security.protocol",
                PROTOCOL,
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                LOGIN.formatted(name, passwords.get(name)) + ";");
    }

    /** Lines of the broker's settings. The controller's port requires no login: only the broker can reach it. */
    String settings() {
        String known = new TreeMap<>(passwords)
                .entrySet().stream()
                        .map(user -> " user_%s=\"%s\"".formatted(user.getKey(), user.getValue()))
                        .collect(Collectors.joining());
        return """
                sasl.enabled.mechanisms=PLAIN
                sasl.mechanism.inter.broker.protocol=PLAIN
                listener.name.sasl_plaintext.plain.sasl.jaas.config=%s%s;
                authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
                super.users=User:%s;User:ANONYMOUS
                """.formatted(LOGIN.formatted(administrator, passwords.get(administrator)), known, administrator);
    }
}
