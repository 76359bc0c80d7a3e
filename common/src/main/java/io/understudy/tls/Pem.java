package io.understudy.tls;

import io.understudy.config.Unreadable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads PEM files with the JDK's own means. */
public final class Pem {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s([A-Za-z0-9+/=\\s]+?)-----END \\1-----");
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----");
    private static final String PKCS8 = "PRIVATE KEY";
    /** The forms of PKCS #1 and SEC 1, of which Go's programs read all, and {@code openssl} and kubeadm write some. */
    private static final Set<String> KEYS = Set.of(PKCS8, "RSA PRIVATE KEY", "EC PRIVATE KEY");

    private static final int SEQUENCE = 0x30;
    private static final int OCTET_STRING = 4;
    private static final byte[] VERSION_0 = {2, 1, 0};

    private Pem() {}

    /**
     * The certificates in a file, in their order; at least one.
     *
     * @throws TlsFileException if there is none in the file, or one can't be read
     */
    public static List<X509Certificate> certificates(Path file) {
        List<X509Certificate> certificates = new ArrayList<>();
        Matcher block = BLOCK.matcher(read(file));
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            while (block.find()) {
                if (block.group(1).equals("CERTIFICATE")) {
                    ByteArrayInputStream der = new ByteArrayInputStream(decode(file, block.group(2)));
                    certificates.add((X509Certificate) factory.generateCertificate(der));
                }
            }
        } catch (CertificateException e) {
            throw new TlsFileException(file, "contains an invalid certificate: " + e.getMessage(), e);
        }
        if (certificates.isEmpty()) {
            throw new TlsFileException(file, "contains no PEM certificate");
        }
        return certificates;
    }

    /**
     * The private key in a file that belongs to {@code certificate}, which was read from {@code certificateFile}.
     *
     * @throws TlsFileException if there is no unencrypted one, or it belongs to another certificate
     */
    public static PrivateKey key(Path file, Path certificateFile, X509Certificate certificate) {
        String text = read(file);
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            if (KEYS.contains(block.group(1))) {
                byte[] der = decode(file, block.group(2));
                boolean isWrapped = block.group(1).equals(PKCS8);
                PrivateKey key = key(file, isWrapped ? der : pkcs8(der, certificate), certificate);
                requireMatch(file, key, certificateFile, certificate);
                return key;
            }
        }
        Matcher begin = BEGIN.matcher(text);
        throw new TlsFileException(
                file,
                begin.find()
                        ? "contains '" + begin.group(1) + "', but an unencrypted private key is required; convert it"
                                + " with: openssl pkcs8 -topk8 -nocrypt -in " + file + " -out NEW"
                        : "contains no PEM private key");
    }

    /** Returns the key in PKCS #8 form, with the algorithm with which its certificate's public key begins. */
    private static byte[] pkcs8(byte[] der, X509Certificate certificate) {
        ByteBuffer publicKey = ByteBuffer.wrap(certificate.getPublicKey().getEncoded());
        int length = publicKey.get(1);
        int at = length < 0 ? 2 + (length & 0x7f) : 2;
        byte[] algorithm = new byte[2 + publicKey.get(at + 1)];
        publicKey.get(at, algorithm);
        return element(SEQUENCE, VERSION_0, algorithm, element(OCTET_STRING, der));
    }

    private static byte[] element(int tag, byte[]... contents) {
        ByteArrayOutputStream element = new ByteArrayOutputStream();
        element.write(tag);
        int length = Stream.of(contents).mapToInt(content -> content.length).sum();
        if (length < 0x80) {
            element.write(length);
        } else {
            byte[] digits = BigInteger.valueOf(length).toByteArray();
            // The first may be a sign.
            int from = digits[0] == 0 ? 1 : 0;
            element.write(0x80 | (digits.length - from));
            element.write(digits, from, digits.length - from);
        }
        Stream.of(contents).forEach(element::writeBytes);
        return element.toByteArray();
    }

    private static PrivateKey key(Path file, byte[] der, X509Certificate certificate) {
        String algorithm = certificate.getPublicKey().getAlgorithm();
        try {
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (GeneralSecurityException e) {
            // The cause may quote what it read.
            throw new TlsFileException(file, "contains no " + algorithm + " key, which the certificate requires");
        }
    }

    /** Requires that the certificate verifies a signature of the key. */
    private static void requireMatch(Path file, PrivateKey key, Path certificateFile, X509Certificate certificate) {
        byte[] sample = "understudy".getBytes(StandardCharsets.UTF_8);
        boolean matches;
        try {
            Signature signature = Signature.getInstance(signatureFor(key.getAlgorithm()));
            signature.initSign(key);
            signature.update(sample);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(sample);
            matches = signature.verify(signed);
        } catch (GeneralSecurityException e) {
            matches = false;
        }
        if (!matches) {
            throw new TlsFileException(file, "does not match the certificate in " + certificateFile);
        }
    }

    /** The signature algorithm of a key, for {@link Signature} and certificates. */
    public static String signatureFor(String algorithm) {
        return switch (algorithm) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> algorithm;
        };
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.US_ASCII);
        } catch (NoSuchFileException e) {
            throw new TlsFileException(file, "no such file", e);
        } catch (IOException e) {
            throw new TlsFileException(file, "cannot be read: " + Unreadable.why(e), e);
        }
    }

    private static byte[] decode(Path file, String base64) {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new TlsFileException(file, "contains invalid base64", e);
        }
    }
}
