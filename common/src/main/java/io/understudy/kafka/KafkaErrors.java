package io.understudy.kafka;

import io.understudy.kafka.KafkaClients.ClientProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;

/** Text of failures of Kafka clients, with what an operator needs to act. */
public final class KafkaErrors {

    private static final Pattern USERNAME = Pattern.compile("\\busername\\s*=\\s*\"([^\"]*)\"");

    private KafkaErrors() {}

    /** Whether credentials or ACLs are the cause. An operator may restore them at any time. */
    public static boolean isAccess(Throwable cause) {
        return cause instanceof AuthorizationException || cause instanceof AuthenticationException;
    }

    /**
     * Type and message of a failure; for access failures also the principal and the operation.
     *
     * @param operation what the failed call requires
     */
    public static String text(Throwable cause, KafkaSettings settings, AclOperation operation) {
        String message = cause.getMessage();
        String text = cause.getClass().getSimpleName()
                + (message == null
                        ? ""
                        : ": " + (message.endsWith(".") ? message.substring(0, message.length() - 1) : message));
        if (!isAccess(cause)) {
            return text;
        }
        String missing = cause instanceof TransactionalIdAuthorizationException
                ? "WRITE on the transactional.id"
                : operation.name();
        return text + " (" + principal(settings)
                + (cause instanceof AuthorizationException ? "; required operation: " + missing : "") + ")";
    }

    /** The clients' principal, unless the broker maps names. */
    private static String principal(KafkaSettings settings) {
        AdminClientConfig known;
        try {
            Map<String, Object> access = new HashMap<>(ClientProperties.read(settings.propertiesFile()));
            access.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServers());
            known = new AdminClientConfig(access);
        } catch (IllegalArgumentException | KafkaException e) {
            return "principal unknown: " + e.getMessage();
        }
        String protocol = known.getString(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG);
        if (protocol.startsWith("SASL")) {
            Password login = known.getPassword(SaslConfigs.SASL_JAAS_CONFIG);
            Matcher name = USERNAME.matcher(login == null ? "" : login.value());
            return name.find()
                    ? "principal User:" + name.group(1)
                    : "principal of SASL mechanism " + known.getString(SaslConfigs.SASL_MECHANISM);
        }
        String store = known.getString(SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG);
        return protocol.equals("SSL") && store != null
                ? "principal: subject of the certificate in " + store
                : "principal User:ANONYMOUS";
    }
}
