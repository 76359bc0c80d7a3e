package io.understudy.pki;

import io.understudy.pki.PkiDirectory.Authority.Issued;
import io.understudy.pki.Subject.Use;
import io.understudy.tls.Pem;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Files of an authority and its certificates, never overwritten. Each has {@code NAME.crt} and {@code NAME.key}, the
 * authority with the name {@code ca}. Keys are readable by their owner only.
 *
 * <p>Invariant DP13: the authority signs certificates of servers and clients but no further authority; keys are
 * readable by their owner only.
 */
public final class PkiDirectory {

    private static final String AUTHORITY = "ca";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final Set<PosixFilePermission> SECRET =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final Set<PosixFilePermission> PUBLIC = EnumSet.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.OTHERS_READ);

    private final Path folder;

    public PkiDirectory(Path folder) {
        this.folder = folder;
    }

    /** A written certificate and its files. */
    public record Written(Issued issued, Path certificate, Path key) {}

    /**
     * Creates a new authority.
     *
     * @throws UncheckedIOException there is one already, or files are not writable; existing files are kept
     */
    public Written init(String commonName, int pathLength, Duration validity) {
        try {
            Files.createDirectories(folder);
            requireNew(AUTHORITY);
            return write(
                    AUTHORITY,
                    Authority.create(commonName, pathLength, validity).own());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create an authority in " + folder, e);
        }
    }

    /**
     * Issues a certificate of the authority.
     *
     * @param name name of its files
     * @throws io.understudy.tls.TlsFileException there is no usable authority here
     * @throws IllegalArgumentException the name is invalid, or the authority's
     * @throws UncheckedIOException the authority is expired, the name exists already, or files are not writable; existing
     *     files are kept
     */
    public Written issue(String name, Subject subject) {
        if (!NAME.matcher(name).matches() || name.equals(AUTHORITY)) {
            throw new IllegalArgumentException("the name is '" + name
                    + "'; allowed: letters, digits, '.', '-' and '_', except '" + AUTHORITY + "'");
        }
        Path certificateFile = folder.resolve(AUTHORITY + ".crt");
        X509Certificate certificate = Pem.certificates(certificateFile).get(0);
        Authority authority = new Authority(
                new Issued(certificate, Pem.key(folder.resolve(AUTHORITY + ".key"), certificateFile, certificate)));
        try {
            requireNew(name);
            if (certificate.getNotAfter().toInstant().isBefore(Instant.now())) {
                throw new IOException(
                        certificateFile + ": expired; create an authority in another directory by understudy pki init");
            }
            return write(name, authority.issue(subject));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot issue a certificate in " + folder, e);
        }
    }

    private void requireNew(String name) throws IOException {
        for (String kind : new String[] {".crt", ".key"}) {
            Path file = folder.resolve(name + kind);
            if (Files.exists(file)) {
                throw new FileAlreadyExistsException(file.toString(), null, "file exists and is not overwritten");
            }
        }
    }

    private Written write(String name, Issued issued) throws IOException {
        Path key = folder.resolve(name + ".key");
        Path certificate = folder.resolve(name + ".crt");
        try {
            create(key, SECRET, "PRIVATE KEY", issued.key().getEncoded());
            try {
                create(certificate, PUBLIC, "CERTIFICATE", issued.certificate().getEncoded());
            } catch (IOException e) {
                // So that it can be issued again.
                Files.delete(key);
                throw e;
            }
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        return new Written(issued, certificate, key);
    }

    /** Creates a file, with its permissions from the start. */
    private static void create(Path file, Set<PosixFilePermission> permissions, String kind, byte[] der)
            throws IOException {
        String text = "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + kind + "-----\n";
        SeekableByteChannel created = Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(permissions));
        try (SeekableByteChannel channel = created) {
            ByteBuffer rest = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
        } catch (IOException e) {
            Files.delete(file);
            throw e;
        }
    }

    /** Signs certificates with the key of one authority. Immutable. */
    public static final class Authority {

        /** Maximum delay of the clocks of verifying peers. */
        private static final Duration SKEW = Duration.ofMinutes(5);

        private static final int SERIAL_BITS = 127;

        private static final Pattern ADDRESS =
                Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
        private static final SecureRandom RANDOM = new SecureRandom();

        private final Issued own;

        public Authority(Issued own) {
            this.own = own;
        }

        /**
         * A new one, which vouches for itself.
         *
         * @param commonName what it is called
         * @param pathLength number of authorities that may follow in a chain; 0 for servers and clients only
         */
        public static Authority create(String commonName, int pathLength, Duration validity) {
            try {
                KeyPair keys = keys();
                X500Name name = name(commonName);
                Instant now = Instant.now();
                X509v3CertificateBuilder builder = builder(name, now, now.plus(validity), name, keys.getPublic())
                        .addExtension(Extension.basicConstraints, true, new BasicConstraints(pathLength))
                        .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign))
                        .addExtension(
                                Extension.subjectKeyIdentifier,
                                false,
                                new JcaX509ExtensionUtils().createSubjectKeyIdentifier(keys.getPublic()));
                return new Authority(new Issued(sign(builder, keys.getPrivate()), keys.getPrivate()));
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException("the Java platform does not support the required algorithms", e);
            }
        }

        /** Returns the authority's own certificate, which verifies issued ones, and key. */
        public Issued own() {
            return own;
        }

        /** A certificate with a new key. It ends no later than the authority's own. */
        public Issued issue(Subject subject) {
            try {
                KeyPair keys = keys();
                Instant now = Instant.now();
                Instant most = own.certificate().getNotAfter().toInstant();
                Instant end = now.plus(subject.validity());
                JcaX509ExtensionUtils extensions = new JcaX509ExtensionUtils();
                X509v3CertificateBuilder builder = builder(
                                X500Name.getInstance(own.certificate()
                                        .getSubjectX500Principal()
                                        .getEncoded()),
                                now,
                                end.isBefore(most) ? end : most,
                                name(subject.commonName()),
                                keys.getPublic())
                        .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
                        .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
                        .addExtension(Extension.extendedKeyUsage, false, uses(subject))
                        .addExtension(
                                Extension.subjectKeyIdentifier,
                                false,
                                extensions.createSubjectKeyIdentifier(keys.getPublic()))
                        .addExtension(
                                Extension.authorityKeyIdentifier,
                                false,
                                extensions.createAuthorityKeyIdentifier(own.certificate()));
                if (!subject.hosts().isEmpty()) {
                    // RFC 5280 4.2.1.6: with an empty subject it is all there is.
                    builder.addExtension(
                            Extension.subjectAlternativeName, subject.commonName() == null, names(subject.hosts()));
                }
                return new Issued(sign(builder, own.key()), keys.getPrivate());
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException("the Java platform does not support the required algorithms", e);
            }
        }

        private static X509v3CertificateBuilder builder(
                X500Name issuer, Instant now, Instant end, X500Name subject, PublicKey key) {
            return new JcaX509v3CertificateBuilder(
                    issuer,
                    new BigInteger(SERIAL_BITS, RANDOM).setBit(SERIAL_BITS - 1),
                    Date.from(now.minus(SKEW)),
                    Date.from(end),
                    subject,
                    key);
        }

        private static X500Name name(@Nullable String commonName) {
            X500NameBuilder name = new X500NameBuilder();
            return (commonName == null ? name : name.addRDN(BCStyle.CN, commonName)).build();
        }

        private static ExtendedKeyUsage uses(Subject subject) {
            return new ExtendedKeyUsage(subject.uses().stream()
                    .sorted()
                    .map(use -> use == Use.SERVER ? KeyPurposeId.id_kp_serverAuth : KeyPurposeId.id_kp_clientAuth)
                    .toArray(KeyPurposeId[]::new));
        }

        private static GeneralNames names(List<String> hosts) {
            return new GeneralNames(hosts.stream()
                    .map(host -> new GeneralName(
                            ADDRESS.matcher(host).matches() ? GeneralName.iPAddress : GeneralName.dNSName, host))
                    .toArray(GeneralName[]::new));
        }

        private static KeyPair keys() throws GeneralSecurityException {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        }

        private static X509Certificate sign(X509v3CertificateBuilder builder, PrivateKey key)
                throws GeneralSecurityException, IOException {
            try {
                byte[] der = builder.build(new JcaContentSignerBuilder(Pem.signatureFor(key.getAlgorithm())).build(key))
                        .getEncoded();
                return (X509Certificate)
                        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
            } catch (OperatorCreationException e) {
                throw new GeneralSecurityException(e);
            }
        }

        /** A certificate and its private key. */
        public record Issued(X509Certificate certificate, PrivateKey key) {

            /** The subject of the certificate, by RFC 2253; may be empty. */
            public String subject() {
                return certificate.getSubjectX500Principal().getName();
            }

            public Instant expires() {
                return certificate.getNotAfter().toInstant();
            }

            /** Never the key. */
            @Override
            public String toString() {
                return "'" + subject() + "', serial " + certificate.getSerialNumber();
            }
        }
    }
}
