package io.understudy.local.certificate;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Certificates for tests, as PEM files in one folder. */
public final class Certificates {

    private static final Map<String, String> SIGNATURES =
            Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "Ed25519", "Ed25519");

    private final Path folder;

    public Certificates(Path folder) {
        this.folder = folder;
    }

    /** The files of one name: certificate, which is its own authority, and key. */
    public record Pair(Path certificate, Path key) {

        /** Of a server with peers and clients that show this pair, too. Its key is an elliptic curve's. */
        public ServerTls mutual() throws IOException {
            return new ServerTls(certificate, certificate, key, context());
        }

        /** For a client that shows the certificate, and trusts it. The key is an elliptic curve's. */
        public SSLContext context() throws IOException {
            try (var in = Files.newInputStream(certificate)) {
                X509Certificate own = (X509Certificate)
                        CertificateFactory.getInstance("X.509").generateCertificate(in);
                byte[] der = Base64.getMimeDecoder()
                        .decode(Files.readString(key)
                                .replaceAll("-----[A-Z ]+-----", "")
                                .strip());
                KeyStore store = KeyStore.getInstance("PKCS12");
                store.load(null, null);
                store.setKeyEntry(
                        "own",
                        KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der)),
                        new char[0],
                        new X509Certificate[] {own});
                store.setCertificateEntry("trusted", own);
                KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                keys.init(store, new char[0]);
                TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                trust.init(store);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
                return context;
            } catch (GeneralSecurityException e) {
                throw new IOException("cannot read " + certificate, e);
            }
        }
    }

    /**
     * Makes a self-signed certificate for 127.0.0.1 and localhost, valid for two days.
     *
     * @param name its common name, and what its files are called
     * @param algorithm of the key, as the JDK calls it: {@code EC}, {@code RSA}, {@code Ed25519}
     */
    public Pair make(String name, String algorithm) throws IOException {
        return make(name, "CN=" + name, algorithm);
    }

    /** Likewise, without a common name. */
    public Pair makeNameless(String file, String algorithm) throws IOException {
        return make(file, "O=understudy", algorithm);
    }

    private Pair make(String name, String subject, String algorithm) throws IOException {
        try {
            KeyPair keys = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
            X500Name own = new X500Name(subject);
            Instant from = Instant.now().minus(Duration.ofMinutes(1));
            X509CertificateHolder certificate = new JcaX509v3CertificateBuilder(
                            own,
                            new BigInteger(64, new SecureRandom()),
                            Date.from(from),
                            Date.from(from.plus(Duration.ofDays(2))),
                            own,
                            keys.getPublic())
                    .addExtension(Extension.basicConstraints, true, new BasicConstraints(true))
                    .addExtension(Extension.subjectAlternativeName, false, new GeneralNames(new GeneralName[] {
                        new GeneralName(GeneralName.iPAddress, "127.0.0.1"),
                        new GeneralName(GeneralName.dNSName, "localhost")
                    }))
                    .build(new JcaContentSignerBuilder(SIGNATURES.get(algorithm)).build(keys.getPrivate()));
            return new Pair(
                    write(name + ".crt", "CERTIFICATE", certificate.getEncoded()),
                    write(name + ".key", "PRIVATE KEY", keys.getPrivate().getEncoded()));
        } catch (GeneralSecurityException | OperatorCreationException e) {
            throw new IOException("cannot create certificate " + name, e);
        }
    }

    /** Writes one PEM block. */
    public Path write(String file, String kind, byte[] der) throws IOException {
        return Files.writeString(
                folder.resolve(file),
                "-----BEGIN " + kind + "-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + kind
                        + "-----\n");
    }
}
