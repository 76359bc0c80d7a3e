package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.pki.PkiDirectory;
import io.understudy.report.TextTable;
import java.io.PrintWriter;
import java.time.temporal.ChronoUnit;

/** Prints what was issued, and where it is. */
final class PkiText {

    private PkiText() {}

    static void print(PrintWriter out, OutputForm form, PkiDirectory.Written written) {
        String subject = written.issued().subject();
        String expires =
                written.issued().expires().truncatedTo(ChronoUnit.SECONDS).toString();
        String certificate = written.certificate().toString();
        String key = written.key().toString();
        if (form == OutputForm.JSON) {
            ObjectNode json = new JsonMapper()
                    .createObjectNode()
                    .put("subject", subject)
                    .put("expires", expires)
                    .put("certificate", certificate)
                    .put("key", key);
            out.println(json.toPrettyString());
        } else {
            new TextTable("SUBJECT", "EXPIRES", "CERTIFICATE", "KEY")
                    .row(subject.isEmpty() ? "-" : subject, expires, certificate, key)
                    .lines()
                    .forEach(out::println);
        }
        out.flush();
    }
}
