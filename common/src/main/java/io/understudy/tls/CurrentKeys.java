package io.understudy.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Presents the certificate that is current when a handshake begins. Its key is used to the handshake's end, even after
 * a reload.
 */
final class CurrentKeys extends X509ExtendedKeyManager {

    private final Supplier<@Nullable X509ExtendedKeyManager> current;
    private final Supplier<@Nullable X509ExtendedKeyManager> previous;

    CurrentKeys(
            Supplier<@Nullable X509ExtendedKeyManager> current, Supplier<@Nullable X509ExtendedKeyManager> previous) {
        this.current = current;
        this.previous = previous;
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return ofCurrent(keys -> keys.getClientAliases(keyType, issuers));
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return ofCurrent(keys -> keys.chooseClientAlias(keyType, issuers, socket));
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return ofCurrent(keys -> keys.chooseEngineClientAlias(keyType, issuers, engine));
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return ofCurrent(keys -> keys.getServerAliases(keyType, issuers));
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return ofCurrent(keys -> keys.chooseServerAlias(keyType, issuers, socket));
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return ofCurrent(keys -> keys.chooseEngineServerAlias(keyType, issuers, engine));
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return byAlias(keys -> keys.getCertificateChain(alias));
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return byAlias(keys -> keys.getPrivateKey(alias));
    }

    private <T> @Nullable T byAlias(Function<X509ExtendedKeyManager, @Nullable T> property) {
        T found = ofCurrent(property);
        return found == null ? of(previous.get(), property) : found;
    }

    private <T> @Nullable T ofCurrent(Function<X509ExtendedKeyManager, @Nullable T> property) {
        return of(current.get(), property);
    }

    private static <T> @Nullable T of(
            @Nullable X509ExtendedKeyManager keys, Function<X509ExtendedKeyManager, @Nullable T> property) {
        return keys == null ? null : property.apply(keys);
    }
}
