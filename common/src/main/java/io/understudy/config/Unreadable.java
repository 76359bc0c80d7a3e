package io.understudy.config;

import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

/** The reason why a file cannot be read; for some, the JDK has only an exception's type. */
final class Unreadable {

    private Unreadable() {}

    /** The reason without the file. */
    static String why(Exception failure) {
        if (failure instanceof NoSuchFileException) {
            return "no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof CharacterCodingException) {
            return "not UTF-8";
        }
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
}
