package io.understudy.documentation;

import java.nio.file.Path;

/** Where a document says something. */
record Place(Path document, int line) {

    Path folder() {
        return document.toAbsolutePath().getParent();
    }

    @Override
    public String toString() {
        return Repository.ROOT.relativize(document) + ":" + line;
    }
}
