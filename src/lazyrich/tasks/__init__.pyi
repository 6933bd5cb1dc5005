from ._modular_addition import ModularAddition as ModularAddition
from ._teacher_student import TeacherStudent as TeacherStudent
