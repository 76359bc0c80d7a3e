package io.understudy.documentation;

import java.nio.file.Path;

/** A line of a document. */
record Place(Path document, int line) {

    Path folder() {
        return document.toAbsolutePath().getParent();
    }

    @Override
    public String toString() {
        return Repository.ROOT.relativize(document) + ":" + line;
    }
}
