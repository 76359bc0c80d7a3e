package io.understudy.mirror.status;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.mirror.verify.BackgroundVerification.VerifyStatus;
import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import java.util.List;

/** Comparisons as JSON. */
public final class VerifyPage {

    private static final JsonMapper JSON = new JsonMapper();

    private VerifyPage() {}

    /**
     * Returns {@code {"mirror":…,"result":…,…}}. The result is {@code equal} or {@code different}, with counts and
     * differences, or {@code not-comparable} with {@code why} and {@code reason}.
     */
    public static String json(String mirror, VerifyResult result) {
        ObjectNode node = JSON.createObjectNode();
        node.put("mirror", mirror);
        if (result instanceof VerifyReport report) {
            node.put("result", report.isEqual() ? "equal" : "different")
                    .put("sourceRevision", report.sourceRevision().value())
                    .put("targetRevision", report.targetRevision().value())
                    .put("keys", report.keys())
                    .put("bytes", report.bytes())
                    .put("sourceDigest", report.sourceDigest())
                    .put("targetDigest", report.targetDigest())
                    .put("differing", report.differing())
                    .put("tookMillis", report.took().toMillis());
            node.set("differences", json(report.differences()));
        } else if (result instanceof NotComparable not) {
            node.put("result", "not-comparable").put("why", not.why().word()).put("reason", not.reason());
        }
        return node.toPrettyString() + "\n";
    }

    /** Returns the state of the background comparison. */
    static ObjectNode json(VerifyStatus status) {
        ObjectNode node = JSON.createObjectNode();
        node.put("passes", status.passes());
        node.put(
                "lastPass", status.lastPass() == null ? null : status.lastPass().toString());
        node.put("keys", status.keys());
        node.put("differing", status.differing());
        node.put("repaired", status.repaired());
        node.put("problem", status.problem());
        node.set("differences", json(status.differences()));
        return node;
    }

    private static ArrayNode json(List<Difference> differences) {
        ArrayNode nodes = JSON.createArrayNode();
        for (Difference difference : differences) {
            nodes.addObject()
                    .put("kind", difference.kind().word())
                    .put("sourceKey", text(difference.sourceKey()))
                    .put("targetKey", text(difference.targetKey()));
        }
        return nodes;
    }

    private static String text(ByteString key) {
        return TextFormat.escapeBytes(key);
    }
}
