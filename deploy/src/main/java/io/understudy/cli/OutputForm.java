package io.understudy.cli;

/** In which form results are printed. */
public enum OutputForm {
    TABLE,
    JSON
}
