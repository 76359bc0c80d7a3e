package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a take-over.
 *
 * <p>Invariant M38: the reported plan and loss of a take-over are accurate; "none" means that no write can be lost.
 *
 * @param summary in one line
 * @param loss "none", or what is lost or unknown
 * @param lost keys of lost writes, as shown; the first 1,000
 * @param file has all of them; null if there are no more
 * @param facts in the order of the steps
 * @param next what to do now
 */
public record TakeOverReport(
        String summary,
        String loss,
        List<String> lost,
        @Nullable Path file,
        Map<String, String> facts,
        List<String> next) {

    /** What is reported if nothing can be lost. */
    public static final String NONE = "none";

    public TakeOverReport {
        lost = List.copyOf(lost);
        next = List.copyOf(next);
    }

    TakeOverReport(String summary, String loss, LostKeys lost, Map<String, String> facts, List<String> next) {
        this(summary, loss, lost.first(), lost.file(), facts, next);
    }

    public boolean isWithoutLoss() {
        return loss.equals(NONE);
    }

    /** A key as shown. */
    static String shown(ByteString key) {
        return "\"" + TextFormat.escapeBytes(key) + "\"";
    }
}
