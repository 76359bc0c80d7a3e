package io.understudy.tls;

import io.understudy.config.Unreadable;
import java.io.ByteArrayInputStream;
import java.io.IOException;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads PEM files with the JDK's own means. */
public final class Pem {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s([A-Za-z0-9+/=\\s]+?)-----END \\1-----");
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----");
    private static final String KEY = "PRIVATE KEY";

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
     * @throws TlsFileException if there is none in PKCS #8 form, or it belongs to another certificate
     */
    public static PrivateKey key(Path file, Path certificateFile, X509Certificate certificate) {
        String text = read(file);
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            if (block.group(1).equals(KEY)) {
                PrivateKey key = key(file, decode(file, block.group(2)), certificate);
                requireMatch(file, key, certificateFile, certificate);
                return key;
            }
        }
        Matcher begin = BEGIN.matcher(text);
        throw new TlsFileException(
                file,
                begin.find()
                        ? "contains '" + begin.group(1) + "', but '" + KEY
                                + "' (unencrypted PKCS #8) is required; convert it"
                                + " with: openssl pkcs8 -topk8 -nocrypt -in " + file + " -out NEW"
                        : "contains no PEM private key");
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
