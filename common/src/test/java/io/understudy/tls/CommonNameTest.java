package io.understudy.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.certificate.Certificates;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The common name of a certificate. */
final class CommonNameTest {

    private static final byte UTF8_STRING = 0x0c;
    private static final byte PRINTABLE_STRING = 0x13;
    private static final byte NUMERIC_STRING = 0x12;

    @TempDir
    static Path folder;

    @Test
    void itIsTheOneInTheSubject() throws Exception {
        Certificates certificates = new Certificates(folder);
        assertThat(CommonName.of(read(certificates.make("guest", "EC")))).isEqualTo("guest");
        assertThat(CommonName.of(read(certificates.makeNameless("nobody", "EC"))))
                .isEmpty();
    }

    /** A name that etcd might read after all must not be taken for none. */
    @Test
    void oneThatCannotBeReadIsNotTakenForNone() throws Exception {
        byte[] der = read(new Certificates(folder).make("4711", "EC")).getEncoded();
        for (int i = 0; i < der.length - 5; i++) {
            boolean isName = (der[i] == PRINTABLE_STRING || der[i] == UTF8_STRING)
                    && der[i + 1] == 4
                    && new String(der, i + 2, 4, StandardCharsets.US_ASCII).equals("4711");
            if (isName) {
                der[i] = NUMERIC_STRING;
            }
        }
        X509Certificate odd = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        assertThat(CommonName.of(odd)).isNull();
    }

    private static X509Certificate read(Certificates.Pair pair) {
        return Pem.certificates(pair.certificate()).get(0);
    }
}
