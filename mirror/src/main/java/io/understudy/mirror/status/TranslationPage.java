package io.understudy.mirror.status;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.revisions.Translation;
import io.understudy.vocabulary.Revision;

/** A translation of a revision as JSON. */
public final class TranslationPage {

    private static final JsonMapper JSON = new JsonMapper();

    private TranslationPage() {}

    /**
     * Returns {@code {"mirror":…,"revision":…,"answer":…,…}}. The answer is {@code resume} with {@code startRevision},
     * {@code list-again} with {@code oldestRevision} and {@code resumableRevision} (null for none), or {@code not-yet}
     * with {@code completeRevision}. The latter two have a {@code reason}.
     *
     * @param seen the requested revision of the source
     */
    public static String json(String mirror, Revision seen, Translation translation) {
        ObjectNode node = JSON.createObjectNode();
        node.put("mirror", mirror).put("revision", seen.value());
        if (translation instanceof Translation.ResumeAt at) {
            node.put("answer", "resume").put("startRevision", at.start().value());
        } else if (translation instanceof Translation.ListAgain again) {
            node.put("answer", "list-again")
                    .put("oldestRevision", again.oldest().value())
                    .put(
                            "resumableRevision",
                            again.resumable() == null
                                    ? null
                                    : (Long) again.resumable().value())
                    .put("reason", again.why());
        } else if (translation instanceof Translation.NotYet yet) {
            node.put("answer", "not-yet")
                    .put("completeRevision", yet.complete().value())
                    .put("reason", yet.why());
        }
        return node.toPrettyString() + "\n";
    }
}
